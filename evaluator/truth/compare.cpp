#include "check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

namespace kernelsmith {
namespace {

/// Elements are summed up in blocks, so that a sum stays exact enough; parts begin with a block.
constexpr std::size_t kBlock = 1024;
/// Sums of a block, side by side: a compiler may not reorder a single one, and so would not vectorise it.
constexpr std::size_t kSideBySide = 16;

/// Of elements.
struct Range {
  std::size_t begin, end;
};

template <class T>
struct Sums {
  T worst = 0;
  double squares = 0;
};

/// What an error is of its budget. T: the elements, W: the weights.
template <class T, class W>
W fraction(T actual, T expected, W weight) {
  return std::abs(static_cast<W>(actual) - static_cast<W>(expected)) * weight;
}

/// NaN in `actual` makes the worst NaN or is caught by the count of comparisons that hold.
template <class T, class W>
Sums<W> sum_block(const T* actual, const T* expected, const W* weight, std::size_t count,
                  std::size_t& within) {
  std::array<W, kSideBySide> worst{}, squares{};
  std::array<std::uint32_t, kSideBySide> good{};
  const auto add = [&](std::size_t i, std::size_t to) {
    const W q = fraction(actual[i], expected[i], weight[i]);
    good[to] += q <= W{1} ? 1U : 0U;
    worst[to] = q > worst[to] ? q : worst[to];
    squares[to] += q * q;
  };
  const std::size_t whole = count / kSideBySide * kSideBySide;
  for (std::size_t i = 0; i < whole; i += kSideBySide)
    for (std::size_t beside = 0; beside < kSideBySide; ++beside) add(i + beside, beside);
  for (std::size_t i = whole; i < count; ++i) add(i, i - whole);
  within += std::accumulate(good.begin(), good.end(), std::size_t{0});
  return {*std::ranges::max_element(worst), std::accumulate(squares.begin(), squares.end(), 0.0)};
}

/// Same class and, where infinite, same sign.
template <class T>
bool same_class(T actual, T expected) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::isfinite(actual);
}

bool is_poison(const std::byte* element, std::size_t size, std::uint32_t poison) {
  const std::size_t width = std::min(size, sizeof poison);
  for (std::size_t at = 0; at < size; at += width)
    if (std::memcmp(element + at, &poison, width) != 0) return false;
  return true;
}

/// The elements of a block that failed the fast test, one by one. Returns the sum of the squares of those
/// that are finite. Where only the RMS counts, nothing but the class of an element can be bad, or an error
/// too large for the sum.
template <class T, class W>
double examine(const T* actual, const T* expected, const W* weight, std::size_t begin, std::size_t end,
               bool per_element, std::uint32_t poison, Findings& found) {
  double squares = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const W q = fraction(actual[i], expected[i], weight[i]);
    const bool in_sum = std::isfinite(q);
    if (in_sum) squares += static_cast<double>(q) * static_cast<double>(q);
    if (q <= W{1}) continue;
    const bool same = same_class(actual[i], expected[i]);
    const bool unwritten = is_poison(reinterpret_cast<const std::byte*>(actual + i), sizeof(T), poison);
    const bool left_to_the_rms = !per_element && in_sum;
    if (same && !unwritten && (!std::isfinite(expected[i]) || left_to_the_rms)) continue;
    Faults& faults = found.faults;
    (unwritten ? faults.not_written : same ? faults.wrong : faults.not_finite).add(i);
  }
  return squares;
}

template <class T, class W>
Findings look_through_reals(const Expected& expected, std::span<const std::byte> bytes, std::uint32_t poison,
                            Range part) {
  const auto* actual = reinterpret_cast<const T*>(bytes.data());
  const auto* values = reinterpret_cast<const T*>(expected.values.data());
  const auto* weights = reinterpret_cast<const W*>(expected.weights.data());
  Findings found;
  for (std::size_t begin = part.begin; begin < part.end; begin += kBlock) {
    const std::size_t length = std::min(kBlock, part.end - begin);
    std::size_t within = 0;
    const Sums<W> sums = sum_block(actual + begin, values + begin, weights + begin, length, within);
    found.worst = std::max(found.worst, static_cast<double>(sums.worst));
    const bool finite = std::isfinite(sums.squares);
    if (finite) found.squares += sums.squares;
    if (finite && (within == length || !expected.per_element)) continue;
    const double rest =
        examine(actual, values, weights, begin, begin + length, expected.per_element, poison, found);
    if (!finite) found.squares += rest;
  }
  return found;
}

Findings look_through_bytes(const Expected& expected, const std::byte* actual, std::uint32_t poison,
                            Range part) {
  Findings found;
  const std::byte* const values = expected.values.data();
  const std::size_t size = bytes_of(expected.dtype);
  const std::size_t first = part.begin * size, last = part.end * size;
  if (std::memcmp(actual + first, values + first, last - first) == 0) return found;
  for (std::size_t at = first; at < last; at += size) {
    if (std::memcmp(actual + at, values + at, size) == 0) continue;
    (is_poison(actual + at, size, poison) ? found.faults.not_written : found.faults.wrong).add(at / size);
  }
  return found;
}

void add(const Tally& part, Tally& all) {
  if (all.count == 0) all.first = part.first;
  all.count += part.count;
}

Fault gravest(const Faults& faults) {
  if (faults.not_written.count > 0) return Fault::not_written;
  if (faults.not_finite.count > 0) return Fault::not_finite;
  return faults.wrong.count > 0 ? Fault::wrong : Fault::none;
}

bool is_bit_for_bit(const Expected& expected) { return expected.exact || expected.weights.empty(); }

}  // namespace

Findings look_through(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison,
                      std::size_t part, std::size_t parts) {
  const std::size_t count = actual.size() / bytes_of(expected.dtype);
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  const auto edge = [&](std::size_t i) { return std::min(blocks * i / parts * kBlock, count); };
  const Range range{edge(part), edge(part + 1)};
  if (is_bit_for_bit(expected)) return look_through_bytes(expected, actual.data(), poison, range);
  if (expected.dtype == Dtype::f64)
    return look_through_reals<double, double>(expected, actual, poison, range);
  if (expected.wide_weights) return look_through_reals<float, double>(expected, actual, poison, range);
  return look_through_reals<float, float>(expected, actual, poison, range);
}

CheckResult conclude(const Expected& expected, std::span<const Findings> parts) {
  CheckResult result;
  double squares = 0, worst = 0;
  for (const Findings& part : parts) {
    add(part.faults.wrong, result.faults.wrong);
    add(part.faults.not_finite, result.faults.not_finite);
    add(part.faults.not_written, result.faults.not_written);
    squares += part.squares;
    worst = std::max(worst, part.worst);
  }
  result.fault = gravest(result.faults);
  if (is_bit_for_bit(expected)) {
    result.error = result.fault == Fault::none ? 0 : 2;
    return result;
  }
  const auto judged = static_cast<double>(std::max<std::size_t>(expected.judged, 1));
  const double rms_error = std::sqrt(squares / judged) / expected.rms_limit;
  result.error = expected.per_element ? std::max(worst, rms_error) : rms_error;
  if (result.fault == Fault::none && !(rms_error <= 1)) result.fault = Fault::wrong;
  return result;
}

CheckResult check_output(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison) {
  const Findings all = look_through(expected, actual, poison, 0, 1);
  return conclude(expected, {&all, 1});
}

bool untouched(std::span<const std::byte> bytes, std::uint32_t poison) {
  const std::size_t whole = bytes.size() / sizeof poison * sizeof poison;
  std::uint32_t differing = 0;
  for (std::size_t at = 0; at < whole; at += sizeof poison) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    differing |= word ^ poison;
  }
  return differing == 0 && std::memcmp(bytes.data() + whole, &poison, bytes.size() - whole) == 0;
}

}  // namespace kernelsmith

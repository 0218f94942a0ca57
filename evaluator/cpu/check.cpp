#include "check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

namespace kernelsmith {
namespace {

/// Elements are summed up in blocks, so that a sum stays exact enough.
constexpr std::size_t kBlock = 1024;
/// Sums of a block, side by side: a compiler may not reorder a single one, and so would not vectorise it.
constexpr std::size_t kSideBySide = 16;

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
/// that are finite. Where only the RMS counts, nothing but the class of an element can be bad.
template <class T, class W>
double examine(const T* actual, const T* expected, const W* weight, std::size_t begin, std::size_t end,
               bool per_element, std::uint32_t poison, CheckResult& result) {
  double squares = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const W q = fraction(actual[i], expected[i], weight[i]);
    if (std::isfinite(q)) squares += static_cast<double>(q) * static_cast<double>(q);
    if (q <= W{1}) continue;
    const bool same = same_class(actual[i], expected[i]);
    const bool unwritten = is_poison(reinterpret_cast<const std::byte*>(actual + i), sizeof(T), poison);
    if (same && !unwritten && (!std::isfinite(expected[i]) || !per_element)) continue;
    if (result.bad++ == 0) result.first_bad = i;
    if (unwritten) {
      result.fault = Fault::not_written;
    } else if (result.fault != Fault::not_written) {
      result.fault = same ? std::max(result.fault, Fault::wrong) : Fault::not_finite;
    }
  }
  return squares;
}

template <class T, class W>
CheckResult check_reals(const Expected& expected, std::span<const std::byte> bytes, std::uint32_t poison) {
  const auto* actual = reinterpret_cast<const T*>(bytes.data());
  const auto* values = reinterpret_cast<const T*>(expected.values.data());
  const auto* weights = reinterpret_cast<const W*>(expected.weights.data());
  const std::size_t count = bytes.size() / sizeof(T);
  CheckResult result;
  double squares = 0, worst = 0;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    std::size_t within = 0;
    const Sums<W> sums = sum_block(actual + begin, values + begin, weights + begin, length, within);
    worst = std::max(worst, static_cast<double>(sums.worst));
    const bool finite = std::isfinite(sums.squares);
    if (finite) squares += sums.squares;
    if (finite && (within == length || !expected.per_element)) continue;
    const double rest =
        examine(actual, values, weights, begin, begin + length, expected.per_element, poison, result);
    if (!finite) squares += rest;
  }
  const auto judged = static_cast<double>(std::max<std::size_t>(expected.judged, 1));
  const double rms_error = std::sqrt(squares / judged) / expected.rms_limit;
  result.error = expected.per_element ? std::max(worst, rms_error) : rms_error;
  if (result.fault == Fault::none && rms_error > 1) result.fault = Fault::wrong;
  return result;
}

CheckResult check_bytes(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison) {
  CheckResult result;
  if (std::memcmp(actual.data(), expected.values.data(), actual.size()) == 0) return result;
  const std::size_t size = bytes_of(expected.dtype);
  for (std::size_t at = 0; at < actual.size(); at += size) {
    if (std::memcmp(actual.data() + at, expected.values.data() + at, size) == 0) continue;
    if (result.bad++ == 0) result.first_bad = at / size;
    result.fault = is_poison(actual.data() + at, size, poison) ? Fault::not_written
                                                               : std::max(result.fault, Fault::wrong);
  }
  result.error = 2;
  return result;
}

}  // namespace

CheckResult check_output(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison) {
  if (expected.exact || expected.weights.empty()) return check_bytes(expected, actual, poison);
  if (expected.dtype == Dtype::f64) return check_reals<double, double>(expected, actual, poison);
  if (expected.wide_weights) return check_reals<float, double>(expected, actual, poison);
  return check_reals<float, float>(expected, actual, poison);
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

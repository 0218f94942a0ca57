// Compares outputs with the truth: every element with its tolerance, and the whole by the root mean square.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include <kernelsmith/evaluator/expected.hpp>

#include "truth/elements.hpp"
#include "truth/steps.hpp"

namespace kernelsmith {
namespace {

using truth::load;
using truth::RealType;
using truth::visit_dtype;
using truth::widened;

/// Elements are summed in blocks, so that sums are exact enough; parts begin at a block.
constexpr std::size_t kBlock = 1024;
/// Parallel sums of a block. A compiler may not reorder a single sum, and so would not vectorise it.
constexpr std::size_t kSideBySide = 16;

/// A range of elements.
struct Range {
  std::size_t begin, end;
};

template <class T>
struct Sums {
  T worst = 0;
  double squares = 0;
};

/// An error relative to its budget. T are the elements, W the weights.
template <class T, class W>
W fraction(T actual, T expected, W weight) {
  return std::abs(static_cast<W>(widened(actual)) - static_cast<W>(widened(expected))) * weight;
}

/// NaN in `actual` makes the worst error NaN or is caught by the count of true comparisons.
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

/// Whether all 32-bit words of element `i` are as before the call; a single byte can equal the poison by
/// chance.
bool is_poison(std::span<const std::byte> bytes, std::size_t size, std::size_t i, std::uint32_t poison) {
  const std::size_t first = i * size / sizeof poison * sizeof poison;
  const std::size_t last = std::min(std::max(first + sizeof poison, (i + 1) * size), bytes.size());
  return untouched(bytes.subspan(first, last - first), poison);
}

/// Compares a part of an output of Ts with weights W.
template <class T, class W>
class RealParts {
 public:
  RealParts(const Expected& expected, std::span<const std::byte> bytes, std::uint32_t poison)
      : expected_(expected),
        bytes_(bytes),
        poison_(poison),
        actual_(reinterpret_cast<const T*>(bytes.data())),
        values_(reinterpret_cast<const T*>(expected.values.data())),
        weights_(reinterpret_cast<const W*>(expected.weights.data())) {}

  PartFindings look_through(Range part) {
    for (std::size_t begin = part.begin; begin < part.end; begin += kBlock) {
      const std::size_t length = std::min(kBlock, part.end - begin);
      std::size_t within = 0;
      const Sums<W> sums = sum_block(actual_ + begin, values_ + begin, weights_ + begin, length, within);
      const bool finite = std::isfinite(sums.squares);
      if (finite) found_.squares += sums.squares;
      if (!finite || within < length || static_cast<double>(sums.worst) > found_.worst)
        examine(begin, begin + length, !finite);
    }
    return found_;
  }

 private:
  /// Judges each element. If only the RMS is judged, an element can only have a wrong class or an error too
  /// large for the sum.
  void examine(std::size_t begin, std::size_t end, bool add_squares) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto q = static_cast<double>(fraction(actual_[i], values_[i], weights_[i]));
      const bool in_sum = std::isfinite(static_cast<W>(q));
      if (in_sum && add_squares) found_.squares += q * q;
      if (q > found_.worst) {
        found_.worst = q;
        found_.worst_at = i;
      }
      if (q > 1 || std::isnan(q)) judge(i, in_sum);
    }
  }

  void judge(std::size_t i, bool in_sum) {
    const bool finite = std::isfinite(widened(values_[i])),
               same = rule::same_class(widened(actual_[i]), widened(values_[i]));
    const bool unwritten = is_poison(bytes_, sizeof(T), i, poison_);
    const bool unjudged = finite && weights_[i] == 0;
    const bool left_to_the_rms = !expected_.per_element && in_sum;
    if (!unwritten && (unjudged || (same && (!finite || left_to_the_rms)))) return;
    Faults& faults = found_.faults;
    (unwritten ? faults.not_written : same ? faults.wrong : faults.not_finite).add(i);
  }

  const Expected& expected_;
  std::span<const std::byte> bytes_;
  std::uint32_t poison_;
  const T* actual_;
  const T* values_;
  const W* weights_;
  PartFindings found_;
};

template <class T>
PartFindings look_through_exact(const Expected& expected, std::span<const std::byte> actual,
                                std::uint32_t poison, Range part) {
  PartFindings found;
  const std::byte* const values = expected.values.data();
  const std::size_t first = part.begin * sizeof(T), bytes = (part.end - part.begin) * sizeof(T);
  if (bytes == 0 || std::memcmp(actual.data() + first, values + first, bytes) == 0) return found;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (std::memcmp(actual.data() + i * sizeof(T), values + i * sizeof(T), sizeof(T)) == 0) continue;
    if (is_poison(actual, sizeof(T), i, poison)) {
      found.faults.not_written.add(i);
      continue;
    }
    if constexpr (!RealType<T>) {
      if (!expected.steps.empty() && truth::is_one_step(load<T>(actual.data(), i), load<T>(values, i))) {
        const bool known = expected.steps[i] == std::byte{1};
        if (!known && found.other_steps++ == 0) found.worst_at = i;
        continue;
      }
    }
    found.faults.wrong.add(i);
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

/// Too many unexpected steps are wrong; `other_steps.first` is one of them.
void conclude_exact(const Expected& expected, Tally other_steps, CompareResult& result) {
  const bool too_many = other_steps.count > expected.more_steps;
  if (too_many) add(other_steps, result.faults.wrong);
  result.fault = gravest(result.faults);
  constexpr double kWrong = 2;  // A wrong step has no size, so its ratio is infinite.
  result.error = result.fault != Fault::none ? kWrong : other_steps.count > 0 ? 1 : 0;
  result.worst_at = result.faults.wrong.first;
}

}  // namespace

PartFindings look_through(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison,
                          std::size_t part, std::size_t parts) {
  return visit_dtype(expected.dtype, [&]<class T>(T) -> PartFindings {
    const std::size_t count = actual.size() / sizeof(T);
    const std::size_t blocks = (count + kBlock - 1) / kBlock;
    const auto edge = [&](std::size_t i) { return std::min(blocks * i / parts * kBlock, count); };
    const Range range{edge(part), edge(part + 1)};
    if (is_bit_for_bit(expected)) return look_through_exact<T>(expected, actual, poison, range);
    if constexpr (RealType<T>) {
      if (!std::same_as<T, double> && !expected.wide_weights)
        return RealParts<T, float>(expected, actual, poison).look_through(range);
      return RealParts<T, double>(expected, actual, poison).look_through(range);
    } else {
      return {};
    }
  });
}

CompareResult conclude(const Expected& expected, std::span<const PartFindings> parts) {
  CompareResult result;
  Tally other_steps;
  double squares = 0, worst = 0;
  for (const PartFindings& part : parts) {
    add(part.faults.wrong, result.faults.wrong);
    add(part.faults.not_finite, result.faults.not_finite);
    add(part.faults.not_written, result.faults.not_written);
    add({part.other_steps, part.worst_at}, other_steps);
    squares += part.squares;
    if (part.worst <= worst) continue;
    worst = part.worst;
    result.worst_at = part.worst_at;
  }
  if (is_bit_for_bit(expected)) {
    conclude_exact(expected, other_steps, result);
  } else {
    const auto judged = static_cast<double>(std::max<std::size_t>(expected.judged, 1));
    const double rms_error = std::sqrt(squares / judged) / expected.rms_limit;
    result.worst = worst;
    result.error = expected.per_element ? std::max(worst, rms_error) : rms_error;
    result.fault = gravest(result.faults);
    if (result.fault == Fault::none && !(rms_error <= 1)) result.fault = Fault::wrong;
  }
  if (result.fault == Fault::not_written) result.worst_at = result.faults.not_written.first;
  if (result.fault == Fault::not_finite) result.worst_at = result.faults.not_finite.first;
  return result;
}

CompareResult compare_output(const Expected& expected, std::span<const std::byte> actual,
                             std::uint32_t poison) {
  const PartFindings all = look_through(expected, actual, poison, 0, 1);
  return conclude(expected, {&all, 1});
}

double allowed_error(const Expected& expected, std::size_t i) {
  if (is_bit_for_bit(expected)) return !expected.steps.empty() && expected.steps[i] == std::byte{1} ? 1 : 0;
  const std::byte* const weights = expected.weights.data();
  return 1 /
         (expected.wide_weights ? load<double>(weights, i) : static_cast<double>(load<float>(weights, i)));
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

// The statistics of timing: robust estimates, their intervals, and when to stop. Pure functions; why these
// and no others is measured in docs/backend-cpu.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

/// The median; the mean of the two middle values where the count is even. Requires a non-empty span.
double median_of(std::span<const double> values);

/// The smallest value that at least the fraction `q` of the values do not exceed. Requires a non-empty span
/// and 0 <= q <= 1.
double quantile_of(std::span<const double> values, double q);

/// The median with a 95 % interval from order statistics (binomial; David and Nagaraja, "Order Statistics",
/// 7.1), which assumes nothing of the distribution, interpolated between ranks, which assumes next to nothing
/// (Hettmansperger and Sheather, "Confidence intervals based on interpolated order statistics", 1986). With
/// fewer than six values no such interval exists and the range is taken.
/// Requires a non-empty span.
Measurement median_interval(std::span<const double> values, std::string unit);

/// The interval widened by what is seen between runs but not within one: `floor` is a relative half width,
/// added in quadrature to each side. Requires a positive median.
Measurement with_floor(const Measurement& measurement, double floor);

/// The product (quotient) of two independent measurements, relative half widths in quadrature. Requires
/// positive medians.
Measurement product(const Measurement& a, const Measurement& b, std::string unit);
Measurement quotient(const Measurement& a, const Measurement& b, std::string unit);

/// The geometric mean of independent measurements; its relative half widths are those of the parts in
/// quadrature over their count. Requires a non-empty span of positive medians.
Measurement geometric_mean(std::span<const Measurement> parts, std::string unit);

/// Half the interval's width over its median.
double relative_half_width(const Measurement& measurement);

/// One ABBA quadruple: candidate, yardstick, yardstick, candidate, each the time of one call.
struct AbbaTimes {
  double a1 = 0, b1 = 0, b2 = 0, a2 = 0;

  /// Yardstick over candidate, above 1 is faster: drift that is linear in time cancels.
  double ratio() const { return (b1 + b2) / (a1 + a2); }
};

/// How many calls make a batch of about `target_us`, at least one and at most `most`.
std::size_t calls_per_batch(double call_us, double target_us, std::size_t most);

/// When a measurement is good enough.
struct StoppingRule {
  std::size_t least = 4;       ///< pairs always taken
  std::size_t most = 20;       ///< pairs never exceeded
  double target = 0.01;        ///< relative half width aimed at
  double clearly_worse = 0.8;  ///< an upper bound of the ratio below this needs no precision
};

/// Whether the ratios gathered so far suffice.
bool enough(std::span<const double> ratios, const StoppingRule& rule);

/// Seen between runs, like with like, and against a baseline that behaves differently (relative half widths;
/// benchmarks/cpu_noise makes the table again).
inline constexpr double kFloorLikeWithLike = 0.015;
inline constexpr double kFloorAgainstBaseline = 0.06;
/// And of a time by itself, which the whole machine's state moves.
inline constexpr double kFloorOfTimes = 0.1;

}  // namespace kernelsmith

// The statistics of timing: robust estimates and their intervals. Pure functions.
#pragma once

#include <span>
#include <string>

#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

/// The median. If the count is even, it is the mean of the two middle values. Requires a non-empty span.
double median_of(std::span<const double> values);

/// The median with a 95 % interval from order statistics (binomial; David and Nagaraja, "Order Statistics",
/// 7.1). The interval assumes nothing about the distribution, and the interpolation between ranks assumes
/// little (Hettmansperger and Sheather, "Confidence intervals based on interpolated order statistics", 1986).
/// With fewer than six values there is no such interval, and the range is used. Requires a non-empty span.
Measurement median_interval(std::span<const double> values, std::string unit);

/// Widens the interval by the variation between runs. `floor` is a relative half width, which is added in
/// quadrature to each side. Requires a positive median.
Measurement with_floor(const Measurement& measurement, double floor);

/// The product (quotient) of two independent measurements. Relative half widths are added in quadrature.
/// Requires positive medians.
Measurement product(const Measurement& a, const Measurement& b, std::string unit);
Measurement quotient(const Measurement& a, const Measurement& b, std::string unit);

/// The geometric mean of independent measurements. The parts' relative half widths are added in quadrature
/// and divided by the number of parts. Weights have the sum 1 and apply to each part's logarithm and half
/// widths. Without weights all parts are equal. Requires a non-empty span of positive medians.
Measurement geometric_mean(std::span<const Measurement> parts, std::string unit,
                           std::span<const double> weights = {});

/// Half the interval's width, divided by the median.
double relative_half_width(const Measurement& measurement);

}  // namespace kernelsmith

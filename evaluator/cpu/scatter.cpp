#include "scatter.hpp"

#include <algorithm>
#include <utility>

namespace kernelsmith {
namespace {

/// A relative half width that no score can be made of.
constexpr double kTooNoisy = 0.15;
/// What scatters this much more than the yardstick does in the same pairs scatters by its own doing.
constexpr double kOwnScatter = 3;
constexpr double kEnd = 0.1;

Measurement with_estimate(std::span<const double> values, double quantile, std::string unit) {
  Measurement moved = median_interval(values, std::move(unit));
  moved.median = quantile_of(values, quantile);
  moved.low = std::min(moved.low, moved.median);
  moved.high = std::max(moved.high, moved.median);
  return moved;
}

}  // namespace

Scatter scatter_of(std::span<const double> all, const AbbaRatios& fresh, const StoppingRule& rule) {
  const Measurement ratio = median_interval(all, "x");
  if (relative_half_width(ratio) <= kTooNoisy || ratio.high < rule.clearly_worse) return Scatter::none;
  const double now = relative_half_width(median_interval(fresh.ratios, "x"));
  const double yardstick = relative_half_width(median_interval(fresh.b_times_us, "us"));
  return now < kOwnScatter * yardstick ? Scatter::of_the_machine : Scatter::own;
}

Measurement low_end(std::span<const double> values, std::string unit) {
  return with_estimate(values, kEnd, std::move(unit));
}

Measurement high_end(std::span<const double> values, std::string unit) {
  return with_estimate(values, 1 - kEnd, std::move(unit));
}

}  // namespace kernelsmith

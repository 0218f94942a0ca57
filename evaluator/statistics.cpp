#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

namespace kernelsmith {
namespace {

/// The relative half widths of both sides.
struct Spread {
  double below = 0, above = 0;
};

Spread spread_of(const Measurement& m) {
  return {(m.median - m.low) / m.median, (m.high - m.median) / m.median};
}

Measurement around(double median, Spread spread, std::size_t samples, std::string unit) {
  return {median, median * (1 - std::min(spread.below, 1.0)), median * (1 + spread.above), samples,
          std::move(unit)};
}

/// The largest k such that the k-th smallest and k-th largest of n values enclose the median with at least
/// 95 % probability; 0 where there is none. P(fewer than k of n fair coins) must stay under 2.5 %.
std::size_t order_statistic(std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n));
  double below = 0;
  std::size_t k = 0;
  while (below + term <= 0.025 && k < n / 2) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

/// Beyond this count the normal approximation is exact enough, and powers of one half do not underflow.
constexpr std::size_t kExactUpTo = 512;

std::size_t rank_of_bound(std::size_t n) {
  if (n <= kExactUpTo) return order_statistic(n);
  const double half = static_cast<double>(n) / 2;
  return static_cast<std::size_t>(half - 1.96 * std::sqrt(half / 2));
}

}  // namespace

double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double quantile_of(std::span<const double> values, double q) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[std::max<std::size_t>(static_cast<std::size_t>(rank), 1) - 1];
}

Measurement median_interval(std::span<const double> values, std::string unit) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  const std::size_t k = std::max<std::size_t>(rank_of_bound(n), 1);
  return {median_of(sorted), sorted[k - 1], sorted[n - k], n, std::move(unit)};
}

Measurement with_floor(Measurement measurement, double floor) {
  const Spread spread = spread_of(measurement);
  return around(measurement.median, {std::hypot(spread.below, floor), std::hypot(spread.above, floor)},
                measurement.samples, measurement.unit);
}

Measurement product(const Measurement& a, const Measurement& b, std::string unit) {
  const Spread sa = spread_of(a), sb = spread_of(b);
  return around(a.median * b.median, {std::hypot(sa.below, sb.below), std::hypot(sa.above, sb.above)},
                std::min(a.samples, b.samples), std::move(unit));
}

Measurement quotient(const Measurement& a, const Measurement& b, std::string unit) {
  const Spread sa = spread_of(a), sb = spread_of(b);
  return around(a.median / b.median, {std::hypot(sa.below, sb.above), std::hypot(sa.above, sb.below)},
                std::min(a.samples, b.samples), std::move(unit));
}

Measurement geometric_mean(std::span<const Measurement> parts, std::string unit) {
  double log_sum = 0, below = 0, above = 0;
  std::size_t samples = 0;
  for (const Measurement& part : parts) {
    const Spread spread = spread_of(part);
    log_sum += std::log(part.median);
    below = std::hypot(below, spread.below);
    above = std::hypot(above, spread.above);
    samples += part.samples;
  }
  const double count = static_cast<double>(parts.size());
  return around(std::exp(log_sum / count), {below / count, above / count}, samples, std::move(unit));
}

double relative_half_width(const Measurement& measurement) {
  return (measurement.high - measurement.low) / (2 * measurement.median);
}

std::size_t calls_per_batch(double call_us, double target_us, std::size_t most) {
  if (!(call_us > 0)) return most;
  const double calls = std::ceil(target_us / call_us);
  return calls >= static_cast<double>(most) ? most
                                            : std::max<std::size_t>(1, static_cast<std::size_t>(calls));
}

bool enough(std::span<const double> ratios, const StoppingRule& rule) {
  if (ratios.size() < rule.least) return false;
  if (ratios.size() >= rule.most) return true;
  const Measurement so_far = median_interval(ratios, "x");
  return so_far.high < rule.clearly_worse || relative_half_width(so_far) <= rule.target;
}

}  // namespace kernelsmith

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

/// The rank r, counted from 1, with a probability of 2.5 % for fewer than r heads in n fair coin tosses,
/// interpolated between whole ranks by Hettmansperger and Sheather. It is 1 if even that rank has a higher
/// probability.
double exact_rank(std::size_t n) {
  constexpr double kTail = 0.025;
  double below = 0, term = std::pow(0.5, static_cast<double>(n));
  std::size_t k = 0;
  while (below + term <= kTail) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  if (k == 0) return 1;
  const double rank = static_cast<double>(k), rest = static_cast<double>(n - k);
  const double share = (kTail - below) / term;
  return rank + rest * share / (rank + (rest - rank) * share);
}

/// Above this count the normal approximation is exact enough, and it avoids underflow of powers of one half.
constexpr std::size_t kExactUpTo = 512;

double rank_of_bound(std::size_t n) {
  if (n <= kExactUpTo) return exact_rank(n);
  const double half = static_cast<double>(n) / 2;
  return std::floor(half - 1.96 * std::sqrt(half / 2));
}

/// Requires 1 <= rank <= the number of values.
double at_rank(std::span<const double> sorted, double rank) {
  const auto whole = static_cast<std::size_t>(rank);
  const double next = sorted[std::min(whole, sorted.size() - 1)];
  return std::lerp(sorted[whole - 1], next, rank - static_cast<double>(whole));
}

}  // namespace

double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Measurement median_interval(std::span<const double> values, std::string unit) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  const double rank = rank_of_bound(n);
  return {median_of(sorted), at_rank(sorted, rank), at_rank(sorted, static_cast<double>(n + 1) - rank), n,
          std::move(unit)};
}

Measurement with_floor(const Measurement& measurement, double floor) {
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

Measurement geometric_mean(std::span<const Measurement> parts, std::string unit,
                           std::span<const double> weights) {
  double log_sum = 0, below = 0, above = 0;
  std::size_t samples = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Spread spread = spread_of(parts[i]);
    const double weight = weights.empty() ? 1 : weights[i];
    log_sum += weight * std::log(parts[i].median);
    below = std::hypot(below, weight * spread.below);
    above = std::hypot(above, weight * spread.above);
    samples += parts[i].samples;
  }
  const double count = weights.empty() ? static_cast<double>(parts.size()) : 1;
  return around(std::exp(log_sum / count), {below / count, above / count}, samples, std::move(unit));
}

double relative_half_width(const Measurement& measurement) {
  return (measurement.high - measurement.low) / (2 * measurement.median);
}

}  // namespace kernelsmith

#include <algorithm>
#include <cmath>

#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

Comparison compare(const Measurement& challenger, const Measurement& incumbent) {
  if (challenger.low > incumbent.high) return Comparison::better;
  if (challenger.high < incumbent.low) return Comparison::worse;
  const bool both_exact = challenger.low == challenger.high && incumbent.low == incumbent.high;
  return both_exact ? Comparison::worse : Comparison::ambiguous;
}

Comparison rank(const Measurement& challenger, const Measurement& incumbent) {
  if (challenger.low > incumbent.low) return Comparison::better;
  const bool overlaps = compare(challenger, incumbent) == Comparison::ambiguous;
  return overlaps ? Comparison::ambiguous : Comparison::worse;
}

Measurement pooled(const Measurement& a, const Measurement& b) {
  const auto of_a = static_cast<double>(std::max<std::size_t>(a.samples, 1));
  const auto of_b = static_cast<double>(std::max<std::size_t>(b.samples, 1));
  const double weight_a = of_a / (of_a + of_b), weight_b = of_b / (of_a + of_b);
  const auto half_width = [&](double a_side, double b_side) {
    return std::hypot(weight_a * a_side, weight_b * b_side);
  };
  const double median = weight_a * a.median + weight_b * b.median;
  return {median, median - half_width(a.median - a.low, b.median - b.low),
          median + half_width(a.high - a.median, b.high - b.median), a.samples + b.samples, b.unit};
}

Result<Metrics> Metrics::create(Measurement fitness, std::map<std::string, double> features) {
  if (!std::isfinite(fitness.median) || !std::isfinite(fitness.low) || !std::isfinite(fitness.high)) {
    return fail(ErrorCode::invalid_argument, "a fitness must be a finite number");
  }
  if (!(fitness.low <= fitness.median && fitness.median <= fitness.high)) {
    return fail(ErrorCode::invalid_argument, "a fitness must lie within its own interval");
  }
  for (const auto& [name, value] : features) {
    if (!std::isfinite(value)) {
      return fail(ErrorCode::invalid_argument, "a feature must be a finite number", name);
    }
  }
  Metrics metrics;
  metrics.fitness_ = std::move(fitness);
  metrics.features_ = std::move(features);
  return metrics;
}

}  // namespace kernelsmith

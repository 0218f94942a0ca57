#include <cmath>

#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

Comparison compare(const Measurement& challenger, const Measurement& incumbent) {
  if (challenger.low > incumbent.high) return Comparison::better;
  if (challenger.high < incumbent.low) return Comparison::worse;
  const bool both_exact = challenger.low == challenger.high && incumbent.low == incumbent.high;
  return both_exact ? Comparison::worse : Comparison::ambiguous;
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

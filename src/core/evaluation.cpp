#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

const Metrics* Evaluation::metrics() const {
  const auto* acceptance = std::get_if<Acceptance>(&outcome_);
  return acceptance ? &acceptance->metrics : nullptr;
}

const Report& Evaluation::report() const {
  return std::visit([](const auto& outcome) -> const Report& { return outcome.report; }, outcome_);
}

namespace {

std::vector<std::string> timed_shapes(const Evaluation& evaluation) {
  std::vector<std::string> names;
  for (const ShapeResult& shape : evaluation.report().shapes)
    if (shape.timed) names.push_back(shape.shape);
  return names;
}

}  // namespace

Evaluation pooled(const Evaluation& before, const Evaluation& now) {
  const auto earlier = timed_shapes(before), later = timed_shapes(now);
  if (earlier != later) return earlier.size() > later.size() ? before : now;
  const auto both = [](const std::optional<Measurement>& a, const std::optional<Measurement>& b) {
    return a && b ? std::optional(pooled(*a, *b)) : b;
  };
  Report report = now.report();
  report.speedup = both(before.report().speedup, report.speedup);
  report.runtime_us = both(before.report().runtime_us, report.runtime_us);
  report.over_yardstick = both(before.report().over_yardstick, report.over_yardstick);
  const Measurement fitness = pooled(before.metrics()->fitness(), now.metrics()->fitness());
  return Acceptance{Metrics::create(fitness, now.metrics()->features()).value(), std::move(report)};
}

Evaluation Evaluation::without_artifacts() const {
  Evaluation copy = *this;
  std::visit([](auto& outcome) { outcome.report.artifacts.clear(); }, copy.outcome_);
  return copy;
}

}  // namespace kernelsmith

#include "curve.hpp"

#include <utility>

namespace kernelsmith::view_json {
namespace {

/// At most `most` of the values, evenly spaced, including the last.
template <class T>
std::vector<T> thinned(std::vector<T> values, std::size_t most) {
  if (values.size() <= most) return values;
  std::vector<T> kept;
  kept.reserve(most);
  for (std::size_t i = 1; i <= most; ++i) kept.push_back(std::move(values[i * values.size() / most - 1]));
  return kept;
}

std::vector<CurvePoint> new_bests(const std::vector<CurvePoint>& accepted, const CurvePoint& last) {
  std::vector<CurvePoint> bests;
  for (const CurvePoint& point : accepted) {
    const bool lost_to_the_best = point.low > last.low && point.program != last.program;
    if (lost_to_the_best || (!bests.empty() && point.low <= bests.back().low)) continue;
    bests.push_back(point);
  }
  return bests;
}

}  // namespace

Result<Curve> curve_of(const RunView& view, std::size_t most) {
  Curve curve;
  for (const auto& [id, record] : view.state.programs()) {
    ++curve.evaluated;
    if (record.accepted)
      curve.accepted.push_back({curve.evaluated, id, record.fitness, record.low});
    else
      curve.rejected.push_back(curve.evaluated);
  }
  if (view.latest_best) {
    const Measurement& fitness = view.latest_best->evaluation.metrics()->fitness();
    curve.unit = fitness.unit;
    const CurvePoint last{0, view.latest_best->program->id, fitness.median, fitness.low};
    for (const CurvePoint& best : thinned(new_bests(curve.accepted, last), most)) {
      const auto individual = view.state.individual(best.program);
      if (!individual) return individual.error();
      if (const Metrics* metrics = (*individual)->evaluation.metrics())
        curve.steps.push_back({best, metrics->fitness().low, metrics->fitness().high});
    }
  }
  curve.accepted = thinned(std::move(curve.accepted), most);
  curve.rejected = thinned(std::move(curve.rejected), most);
  return curve;
}

}  // namespace kernelsmith::view_json

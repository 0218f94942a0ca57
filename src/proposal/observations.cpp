#include "observations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <kernelsmith/code/knob_setting.hpp>

namespace kernelsmith::detail {
namespace {

TuningDimension dimension_of(const Knob& knob) {
  TuningDimension dimension{knob.name, knob.values.size(), {}};
  for (const std::string& value : knob.values) {
    const auto number = number_of(value);
    if (!number) return {knob.name, knob.values.size(), {}};
    dimension.numbers.push_back(*number);
  }
  return dimension;
}

// Converts a fitness with its noise to a cost.
class Scale {
 public:
  explicit Scale(const KnobObservations& seen) {
    bool any = false;
    double low = 0, high = 0;
    for (const KnobObservation& one : seen) {
      if (!one.fitness) continue;
      low = any ? std::min(low, *one.fitness) : *one.fitness;
      high = any ? std::max(high, *one.fitness) : *one.fitness;
      any = true;
    }
    ratio_ = low > 0;
    highest_ = high;
    width_ = high > low ? high - low : 1;
  }

  double cost(double fitness) const { return ratio_ ? 1 / fitness : std::exp((highest_ - fitness) / width_); }
  double noise(const KnobObservation& one) const { return one.deviation / (ratio_ ? *one.fitness : width_); }

 private:
  bool ratio_ = true;
  double highest_ = 0, width_ = 1;
};

KnobObservation observation_of(const Evaluation& evaluation, KnobPoint point) {
  constexpr double kDeviations = 1.96;  // half of a 95 % interval
  const Metrics* metrics = evaluation.metrics();
  if (!metrics) return {std::move(point), std::nullopt, 0};
  const Measurement& fitness = metrics->fitness();
  return {std::move(point), fitness.median, (fitness.high - fitness.low) / 2 / kDeviations};
}

}  // namespace

TuningSpace space_of(const std::vector<Knob>& knobs, const KnobRules& rules) {
  std::vector<TuningDimension> dimensions;
  std::ranges::transform(knobs, std::back_inserter(dimensions), dimension_of);
  // Larger spaces are not listed: their points that break a rule are skipped one by one.
  constexpr std::uint64_t kMostListed = 65'536;
  if (rules.empty() || points_of(knobs) > kMostListed)
    return TuningSpace::create(std::move(dimensions)).value();
  return TuningSpace::create(std::move(dimensions), rules.points()).value();
}

KnobHistory shown_history(const Selection& selection) {
  KnobHistory history;
  const auto own = knob_setting(selection.parent->program->source);
  if (!own) return history;
  std::vector<IndividualPtr> shown{selection.parent};
  for (const auto* group : {&selection.top, &selection.inspirations, &selection.failures, &selection.kin})
    shown.insert(shown.end(), group->begin(), group->end());
  for (const IndividualPtr& individual : shown) {
    auto setting = knob_setting(individual->program->source);
    if (!setting || setting->structure != own->structure) continue;
    const auto same = [&](const KnobObservation& one) { return one.point == setting->point; };
    if (std::ranges::none_of(history.seen, same))
      history.seen.push_back(observation_of(individual->evaluation, std::move(setting->point)));
  }
  return history;
}

std::vector<TuningObservation> observations_of(const KnobHistory& history, const KnobPoint& parent) {
  const Scale scale(history.seen);
  std::vector<TuningObservation> observations;
  for (const KnobObservation& one : history.seen) {
    if (one.fitness)
      observations.push_back({one.point, scale.cost(*one.fitness), scale.noise(one)});
    else
      observations.push_back({one.point, std::nullopt});
  }
  for (const KnobPoint& point : history.pending) observations.push_back({point, std::nullopt, 0, true});
  const auto is_parent = [&](const TuningObservation& one) { return one.point == parent; };
  if (std::ranges::none_of(observations, is_parent)) observations.push_back({parent, std::nullopt, 0, true});
  return observations;
}

}  // namespace kernelsmith::detail

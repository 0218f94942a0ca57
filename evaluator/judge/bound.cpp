#include <cstdio>
#include <utility>

#include <kernelsmith/evaluator/bound.hpp>

namespace kernelsmith {
namespace {

constexpr double kNearCopy = 0.8;     // of a copy's speed; good streaming kernels reach 0.8 to 0.95
constexpr double kFarFromCopy = 0.4;  // of a copy's speed; below it memory traffic does not limit the call
constexpr double kLaunchUs = 3;       // a dependent launch in a graph takes at least 1.5 to 3 us
constexpr double kLowOccupancy = 0.25;
constexpr double kFewWaves = 0.9;

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string percent(double share) { return number("%.0f %%", 100 * share); }

bool launches_bound(const CallFigures& call) {
  return call.launches > 0 && call.us < kLaunchUs * call.launches;
}

std::string limit_of(const CallFigures& call) {
  if (call.us <= 0) return {};
  const std::string speed = "the bytes that it must move take " + percent(call.share_of_bandwidth) +
                            " of the time at the speed of a large copy";
  if (call.share_of_bandwidth >= kNearCopy)
    return "Device memory bounds the call: " + speed + ". Little is left unless fewer bytes have to move.";
  if (launches_bound(call) && call.launches > 1)
    return "Launches bound the call: " + number("%.0f", call.launches) + " kernels in " +
           number("%.1f us", call.us) + ". What usually helps: fusing them.";
  if (launches_bound(call))
    return "The call is hardly longer than an empty launch (" + number("%.1f us", call.us) +
           "): little is left.";
  if (call.share_of_bandwidth <= 0) return {};
  if (call.share_of_bandwidth < kFarFromCopy)
    return "Device memory need not bound the call: " + speed +
           ". Arithmetic, latency, or bytes that move more than once may bound it.";
  return {};
}

}  // namespace

std::string bound_of(const CallFigures& call) {
  std::string text = limit_of(call);
  const auto add = [&](const std::string& sentence) { text += (text.empty() ? "" : " ") + sentence; };
  if (call.spill_bytes > 0)
    add("A kernel keeps " + number("%.0f bytes", call.spill_bytes) +
        " of each thread in local memory (spills or arrays).");
  if (call.share_of_bandwidth >= kNearCopy || launches_bound(call)) return text;
  if (call.waves > 0 && call.waves < kFewWaves)
    add("No grid fills more than " + percent(call.waves) + " of the GPU.");
  if (call.occupancy > 0 && call.occupancy < kLowOccupancy)
    add("Registers, shared memory and the block's size allow " + percent(call.occupancy) +
        " of a multiprocessor's threads.");
  return text;
}

double feature_of(const Acceptance& accepted, const std::string& name) {
  const auto& features = accepted.metrics.features();
  const auto found = features.find(name);
  return found != features.end() ? found->second : 0;
}

Evaluation with_features(const Evaluation& evaluation, const std::map<std::string, double>& features) {
  const auto* const accepted = std::get_if<Acceptance>(&evaluation.outcome());
  if (!accepted) return evaluation;
  std::map<std::string, double> all = accepted->metrics.features();
  all.insert(features.begin(), features.end());
  auto metrics = Metrics::create(accepted->metrics.fitness(), std::move(all));
  return metrics ? Evaluation(Acceptance{std::move(*metrics), accepted->report}) : evaluation;
}

}  // namespace kernelsmith

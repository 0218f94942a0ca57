#include <algorithm>
#include <utility>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/engine/knob_memory.hpp>

namespace kernelsmith {
namespace {

std::string text_of(const KnobPoint& point) {
  std::string text;
  for (const std::size_t value : point) text += " " + std::to_string(value);
  return text;
}

/// A knob without a name cannot be told from another one.
bool same_knob(const KnobList& a, const KnobList& b) { return !a.name.empty() && a == b; }

/// The first of the best; null if all were rejected.
const KnobObservation* best_of(const std::vector<KnobObservation>& seen) {
  const KnobObservation* best = nullptr;
  for (const KnobObservation& one : seen)
    if (one.fitness && (!best || *one.fitness > *best->fitness)) best = &one;
  return best;
}

}  // namespace

void KnobMemory::note(const KnobSetting& setting, std::optional<double> fitness, double deviation) {
  Structure& structure = structures_[setting.structure];
  if (structure.seen.empty()) structure.knobs = setting.knobs;
  const KnobObservation observation{setting.point, fitness, deviation};
  const auto [place, is_new] = structure.places.try_emplace(setting.point, structure.seen.size());
  if (is_new)
    structure.seen.push_back(observation);
  else
    structure.seen[place->second] = observation;
}

KnobHistory KnobMemory::history(const KnobSetting& setting) const {
  KnobHistory history;
  const auto known = structures_.find(setting.structure);
  if (known != structures_.end()) {
    const auto& seen = known->second.seen;
    const std::size_t count = std::min(seen.size(), kMostObservations);
    history.seen.assign(seen.end() - static_cast<std::ptrdiff_t>(count), seen.end());
  }
  if (history.seen.size() <= 1) history.elsewhere = elsewhere(setting);
  return history;
}

std::vector<std::optional<std::size_t>> KnobMemory::elsewhere(const KnobSetting& setting) const {
  std::vector<std::optional<std::size_t>> nearest(setting.knobs.size());
  std::size_t most = 0;
  double highest = 0;
  for (const auto& [digest, other] : structures_) {
    const KnobObservation* best = digest == setting.structure ? nullptr : best_of(other.seen);
    if (!best) continue;
    std::vector<std::optional<std::size_t>> values(setting.knobs.size());
    std::size_t shared = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto is_it = [&](const KnobList& knob) { return same_knob(knob, setting.knobs[i]); };
      const auto at = std::ranges::find_if(other.knobs, is_it);
      if (at == other.knobs.end()) continue;
      values[i] = best->point[static_cast<std::size_t>(at - other.knobs.begin())];
      ++shared;
    }
    if (shared == 0 || shared < most || (shared == most && *best->fitness <= highest)) continue;
    most = shared;
    highest = *best->fitness;
    nearest = std::move(values);
  }
  return nearest;
}

bool KnobMemory::begin_tuning(const Digest& structure) {
  return !std::exchange(structures_[structure].tuned, true);
}

std::string KnobMemory::to_text() const {
  std::string text;
  for (const auto& [digest, structure] : structures_) {
    text += "structure " + digest.hex() + (structure.tuned ? " tuned\n" : "\n");
    for (const KnobObservation& one : structure.seen)
      text += " " +
              (one.fitness ? number_text(*one.fitness) + " " + number_text(one.deviation)
                           : std::string("rejected")) +
              " at" + text_of(one.point) + "\n";
  }
  return text;
}

}  // namespace kernelsmith

#include <algorithm>
#include <limits>
#include <utility>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/engine/knob_memory.hpp>

namespace kernelsmith {
namespace {

constexpr double kRejected = -std::numeric_limits<double>::infinity();

std::string text_of(const KnobPoint& point) {
  std::string text;
  for (const std::size_t value : point) text += " " + std::to_string(value);
  return text;
}

/// A knob without a name cannot be distinguished from others.
bool same_knob(const KnobList& a, const KnobList& b) { return !a.name.empty() && a == b; }

Digest digest_of(const std::vector<KnobList>& knobs) {
  DigestBuilder digest;
  for (const KnobList& knob : knobs) {
    digest.add(knob.name).add(static_cast<std::uint64_t>(knob.values.size()));
    for (const std::string& value : knob.values) digest.add(value);
  }
  return digest.finish();
}

/// The index of the best; of equals, the first.
std::optional<std::size_t> best_of(const KnobObservations& seen) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i].fitness && (!best || *seen[i].fitness > *seen[*best].fitness)) best = i;
  return best;
}

}  // namespace

void KnobMemory::note(const KnobSetting& setting, std::optional<double> fitness, double deviation) {
  Structure& structure = structures_[setting.structure];
  auto& [seen, places, best, tuned] = structure;
  Kind& kind = kinds_[digest_of(setting.knobs)];
  if (kind.knobs.empty()) kind.knobs = setting.knobs;
  const double own = fitness.value_or(kRejected);
  const double highest = (best ? seen[*best].fitness : std::nullopt).value_or(kRejected);
  if (best) kind.ranked.erase({-highest, setting.structure});
  const auto [place, is_new] = places.try_emplace(setting.point, seen.size());
  if (is_new)
    seen.push_back({setting.point, fitness, deviation});
  else
    seen.replace(place->second, {setting.point, fitness, deviation});
  if (best == place->second && own < highest)
    best = best_of(seen);
  else if (own > highest || (fitness && own == highest && place->second < best.value_or(0)))
    best = place->second;
  if (best) kind.ranked.emplace(-*seen[*best].fitness, setting.structure);
}

KnobHistory KnobMemory::history(const KnobSetting& setting) const {
  KnobHistory history;
  const auto known = structures_.find(setting.structure);
  if (known != structures_.end()) history.seen = known->second.seen.last(kMostObservations);
  if (history.seen.size() <= 1) history.elsewhere = elsewhere(setting);
  return history;
}

std::vector<std::optional<std::size_t>> KnobMemory::elsewhere(const KnobSetting& setting) const {
  std::vector<std::optional<std::size_t>> nearest(setting.knobs.size());
  std::size_t most = 0;
  std::optional<std::pair<double, Digest>> highest;
  for (const auto& [digest, kind] : kinds_) {
    auto first = kind.ranked.begin();
    if (first != kind.ranked.end() && first->second == setting.structure) ++first;
    if (first == kind.ranked.end()) continue;
    const Structure& other = structures_.at(first->second);
    const KnobPoint& best = other.seen[*other.best].point;
    std::vector<std::optional<std::size_t>> values(setting.knobs.size());
    std::size_t shared = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto is_it = [&](const KnobList& knob) { return same_knob(knob, setting.knobs[i]); };
      const auto at = std::ranges::find_if(kind.knobs, is_it);
      if (at == kind.knobs.end()) continue;
      values[i] = best[static_cast<std::size_t>(at - kind.knobs.begin())];
      ++shared;
    }
    if (shared == 0 || shared < most || (shared == most && highest && *first >= *highest)) continue;
    most = shared;
    highest = *first;
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

// Archive: the rules of a cell with several objectives.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include <kernelsmith/archive/archive.hpp>
#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith {
namespace {

const Metrics& metrics_of_elite(const Elite& elite) { return *elite.individual->evaluation.metrics(); }

/// For each elite, the distance between its neighbours, summed over all objectives. Infinite for the best
/// elite of an objective.
std::vector<double> room_of(const Objectives& objectives, std::span<const Elite> front) {
  std::vector<double> room(front.size(), 0);
  for (std::size_t objective = 0; objective < objectives.list().size(); ++objective) {
    const auto value = [&](std::size_t i) { return objectives.value(objective, metrics_of_elite(front[i])); };
    std::vector<std::size_t> order(front.size());
    std::iota(order.begin(), order.end(), 0);
    // The older of two equals comes first, so that its distance may be infinite and it stays.
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) {
      return std::tuple(value(i),
                        std::numeric_limits<std::uint64_t>::max() - front[i].individual->program->id.value);
    });
    room[order.front()] = std::numeric_limits<double>::infinity();
    const double range = value(order.front()) - value(order.back());
    if (!(range > 0 && range < std::numeric_limits<double>::infinity())) continue;
    for (std::size_t i = 1; i < order.size(); ++i)
      room[order[i]] += (value(order[i - 1]) - value(order[std::min(i + 1, order.size() - 1)])) / range;
  }
  return room;
}

}  // namespace

std::span<const Elite> Archive::front_of(Cell cell) const {
  // Clang 14 does not compile this with the subrange that equal_range() returns.
  return {std::ranges::lower_bound(elites_, cell, {}, &Elite::cell),
          std::ranges::upper_bound(elites_, cell, {}, &Elite::cell)};
}

AddOutcome Archive::add_to_front(Cell cell, IndividualPtr individual, std::optional<ProgramId> beaten) {
  const Metrics& metrics = *individual->evaluation.metrics();
  const auto versus = [&](const Elite& elite) {
    if (elite.individual->program->id == beaten) return Comparison::better;
    return rank(metrics.fitness(), metrics_of_elite(elite).fitness());
  };
  IndividualPtr close;
  for (const Elite& elite : front_of(cell)) {
    if (elite.individual->program->id == individual->program->id)
      return {AddStatus::not_better, cell, elite.individual};
    const Metrics& other = metrics_of_elite(elite);
    if (!objectives_.covers_features(other, metrics)) continue;
    const Comparison verdict = versus(elite);
    if (verdict == Comparison::better) continue;
    if (verdict == Comparison::worse || !objectives_.covers_features(metrics, other))
      return {AddStatus::not_better, cell, elite.individual};
    if (!close) close = elite.individual;
  }
  if (close) return {AddStatus::ambiguous, cell, std::move(close)};

  std::vector<IndividualPtr> leaving;
  for (const Elite& elite : front_of(cell)) {
    const bool wins =
        objectives_.covers_features(metrics, metrics_of_elite(elite)) && versus(elite) == Comparison::better;
    if (wins || objectives_.dominates(metrics, metrics_of_elite(elite))) leaving.push_back(elite.individual);
  }
  const bool was_empty = front_of(cell).empty();
  for (const IndividualPtr& one : leaving) remove(cell, one->program->id);
  const ProgramId id = individual->program->id;
  insert(cell, std::move(individual));
  if (const auto crowded = most_crowded(cell)) {
    remove(cell, *crowded);
    if (*crowded == id) return {AddStatus::not_better, cell, front_of(cell).front().individual};
  }
  if (was_empty) return {AddStatus::new_cell, cell, nullptr};
  if (leaving.empty()) return {AddStatus::joined, cell, nullptr};
  return {AddStatus::improved, cell, std::move(leaving.front())};
}

AddOutcome Archive::add_in_order(Cell cell, IndividualPtr individual) {
  const Elite* const elite = find(cell);
  if (!elite) return place_in_order(cell, std::move(individual), objectives_.place_of_fitness());
  const IndividualPtr incumbent = elite->individual;
  if (incumbent->program->id == individual->program->id) return {AddStatus::not_better, cell, incumbent};
  const Metrics& metrics = *individual->evaluation.metrics();
  const auto decision = objectives_.decide(metrics, metrics_of_elite(*elite));
  if (!decision) {
    const Comparison verdict = rank(metrics.fitness(), metrics_of_elite(*elite).fitness());
    if (verdict == Comparison::better)
      return place_in_order(cell, std::move(individual), objectives_.place_of_fitness());
    const bool close = verdict == Comparison::ambiguous;
    return {close ? AddStatus::ambiguous : AddStatus::not_better, cell, incumbent};
  }
  // Without this, many small losses, each within the noise, would add up.
  const bool may_be_slower = decision->objective <= objectives_.place_of_fitness();
  const bool slower = compare(metrics.fitness(), fastest_.at(cell)) == Comparison::worse &&
                      metrics.fitness().low < fastest_.at(cell).low;
  if (decision->verdict == Comparison::worse || (slower && !may_be_slower))
    return {AddStatus::not_better, cell, incumbent};
  return place_in_order(cell, std::move(individual), decision->objective);
}

AddOutcome Archive::place_in_order(Cell cell, IndividualPtr individual, std::size_t decided_by) {
  const Measurement& fitness = individual->evaluation.metrics()->fitness();
  const auto [fastest, is_first] = fastest_.try_emplace(cell, fitness);
  const bool begins_anew = decided_by < objectives_.place_of_fitness();
  if (!is_first && (begins_anew || fitness.low > fastest->second.low)) fastest->second = fitness;
  return place(cell, std::move(individual));
}

void Archive::insert(Cell cell, IndividualPtr individual) {
  const double fitness = individual->evaluation.metrics()->fitness().low;
  const Rank rank{fitness, individual->program->id, cell};
  ranking_.insert(std::ranges::upper_bound(ranking_, rank, outranks), rank);
  const auto precedes = [](const Elite& elite, const Rank& other) {
    return std::tie(elite.cell, other.fitness, elite.individual->program->id) <
           std::tie(other.cell, elite.fitness, other.program);
  };
  elites_.insert(std::lower_bound(elites_.begin(), elites_.end(), rank, precedes),
                 {cell, fitness, std::move(individual)});
}

void Archive::remove(Cell cell, ProgramId program) {
  auto at = std::ranges::lower_bound(elites_, cell, {}, &Elite::cell);
  while (at->individual->program->id != program) ++at;
  const Rank rank{at->fitness, program, cell};
  ranking_.erase(std::ranges::lower_bound(ranking_, rank, outranks));
  elites_.erase(at);
}

/// The elite that leaves a full cell; of equals, the youngest.
std::optional<ProgramId> Archive::most_crowded(Cell cell) const {
  const std::span<const Elite> front = front_of(cell);
  if (front.size() <= kMostInCell) return std::nullopt;
  const std::vector<double> room = room_of(objectives_, front);
  std::size_t least = 0;
  for (std::size_t i = 1; i < front.size(); ++i) {
    const bool younger = front[i].individual->program->id > front[least].individual->program->id;
    if (room[i] < room[least] || (room[i] == room[least] && younger)) least = i;
  }
  return front[least].individual->program->id;
}

std::string Archive::objectives_text(const Elite& elite) const {
  std::string text;
  for (std::size_t i = 0; objectives_.several() && i < objectives_.list().size(); ++i)
    if (i != objectives_.place_of_fitness())
      text += " value " + number_text(objectives_.value(i, metrics_of_elite(elite)));
  if (const auto fastest = fastest_.find(elite.cell); fastest != fastest_.end())
    for (const double number : {fastest->second.median, fastest->second.low, fastest->second.high})
      text += ' ' + number_text(number);
  return text;
}

}  // namespace kernelsmith

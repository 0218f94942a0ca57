#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <kernelsmith/islands/archipelago.hpp>

namespace kernelsmith {
namespace {

std::string line_of(const char* what, std::span<const IndividualPtr> individuals) {
  std::string line = what;
  for (const auto& individual : individuals) line += ' ' + std::to_string(individual->program->id.value);
  return line + '\n';
}

/// The island's counters for tree search: joined, visits, those since the last new best, and the visits of
/// each leader.
std::string tree_of(const Island& island) {
  std::string line = "joined " + std::to_string(island.joined()) + " visits " +
                     std::to_string(island.visits()) + " stalled " + std::to_string(island.stalled());
  for (const auto& leader : island.leaders()) {
    const ProgramId program = leader->program->id;
    line += ' ' + std::to_string(program.value) + ':' + std::to_string(island.visits(program));
  }
  return line + '\n';
}

/// Compares by fitness. Among equals the older program is better.
bool better(const Elite& a, const Elite& b) {
  return std::tie(b.fitness, a.individual->program->id) < std::tie(a.fitness, b.individual->program->id);
}

}  // namespace

Archipelago::Archipelago(const Grid& grid, Topology topology, IslandOptions options,
                         const Objectives& objectives)
    : topology_(std::move(topology)), islands_(topology_.islands(), Island(grid, options, objectives)) {}

std::optional<AddOutcome> Archipelago::add(IslandId id, IndividualPtr individual) {
  return islands_.at(id.value).add(std::move(individual));
}

AddOutcome Archipelago::settle(IslandId id, IndividualPtr winner, ProgramId loser) {
  return islands_.at(id.value).settle(std::move(winner), loser);
}

Status Archipelago::replace(const IndividualPtr& measured,
                            const std::function<Result<std::vector<IndividualPtr>>(Cell)>& heirs) {
  const ProgramId program = measured->program->id;
  for (Island& island : islands_) {
    const bool led = std::ranges::any_of(
        island.leaders(), [&](const IndividualPtr& one) { return one->program->id == program; });
    const std::vector<Cell> left = island.withdraw(program);
    for (const Cell cell : left) {
      auto offered = heirs(cell);
      if (!offered) return offered.error();
      for (IndividualPtr& heir : *offered) island.add_again(std::move(heir));
    }
    const bool accepted = measured->evaluation.accepted();
    if (!left.empty() || (led && accepted)) island.add_again(measured);
  }
  return {};
}

std::vector<MigrationMove> Archipelago::migrate(const Migration& policy, std::uint64_t seed,
                                                std::uint64_t epoch) {
  Rng rng(seed, epoch, Purpose::migration);
  std::vector<MigrationMove> moves;
  for (const auto& [from, to] : topology_.edges()) {
    for (auto& migrant : policy.migrants(island(from), island(to), rng)) {
      moves.push_back({from, to, std::move(migrant), {}});
    }
  }
  for (auto& move : moves) move.outcome = *add(move.to, move.individual);
  return moves;
}

IndividualPtr Archipelago::best() const {
  if (objectives().lexicographic()) {
    std::vector<IndividualPtr> all;
    for (const auto& island : islands_)
      for (const auto& elite : island.archive().elites()) all.push_back(elite.individual);
    return objectives().best_of(std::move(all));
  }
  const Elite* best = nullptr;
  for (const auto& island : islands_) {
    if (island.archive().elites().empty()) continue;
    const Elite& candidate = island.archive().ranked(0);
    if (!best || better(candidate, *best)) best = &candidate;
  }
  return best ? best->individual : nullptr;
}

std::map<Cell, Elite> Archipelago::elites() const {
  std::map<Cell, Elite> best;
  for (const auto& island : islands_)
    for (const auto& elite : island.archive().elites()) {
      const auto [at, is_new] = best.try_emplace(elite.cell, elite);
      if (is_new) continue;
      const bool in_order = objectives().lexicographic();
      const bool takes =
          in_order ? objectives().best_of({at->second.individual, elite.individual}) != at->second.individual
                   : elite.fitness > at->second.fitness;
      if (takes) at->second = elite;
    }
  return best;
}

std::vector<IndividualPtr> Archipelago::front() const {
  std::map<ProgramId, IndividualPtr> all;
  for (const auto& island : islands_)
    for (const auto& elite : island.archive().elites())
      all.emplace(elite.individual->program->id, elite.individual);
  std::vector<IndividualPtr> individuals;
  for (auto& [id, individual] : all) individuals.push_back(std::move(individual));
  return pareto_front(objectives(), individuals);
}

ArchiveStatistics Archipelago::statistics(double offset) const {
  std::map<Cell, double> best;
  for (const auto& island : islands_) {
    for (const auto& elite : island.archive().elites()) {
      const double fitness = elite.individual->evaluation.metrics()->fitness().median;
      const auto [at, is_new] = best.emplace(elite.cell, fitness);
      if (!is_new) at->second = std::max(at->second, fitness);
    }
  }
  std::vector<double> fitness;
  fitness.reserve(best.size());
  for (const auto& [cell, value] : best) fitness.push_back(value);
  return statistics_of(grid().cells(), fitness, offset);
}

std::string Archipelago::to_text() const {
  std::string text;
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    text += "island " + std::to_string(i) + '\n' + islands_[i].archive().to_text();
    text += tree_of(islands_[i]);
    text += line_of("rejections", islands_[i].rejections());
    text += line_of("recent_failures", islands_[i].recent_failures());
  }
  return text;
}

}  // namespace kernelsmith

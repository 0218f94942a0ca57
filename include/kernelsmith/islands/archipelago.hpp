// The archipelago: islands on a topology. It holds all mutable search state and is owned by one committer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/islands/island.hpp>
#include <kernelsmith/islands/migration.hpp>
#include <kernelsmith/islands/topology.hpp>

namespace kernelsmith {

/// One individual offered to another island.
struct MigrationMove {
  IslandId from;
  IslandId to;
  IndividualPtr individual;
  AddOutcome outcome;
};

/// Islands that share a grid. Not thread-safe; the engine's committer owns it.
///
/// Every method that names an island throws std::out_of_range if there is no such island.
class Archipelago {
 public:
  Archipelago(const Grid& grid, Topology topology, IslandOptions options = {},
              const Objectives& objectives = {});

  std::size_t size() const { return islands_.size(); }
  const Grid& grid() const { return islands_.front().archive().grid(); }
  const Objectives& objectives() const { return islands_.front().archive().objectives(); }
  const Topology& topology() const { return topology_; }
  const Island& island(IslandId id) const { return islands_.at(id.value); }

  /// Island::add.
  std::optional<AddOutcome> add(IslandId id, IndividualPtr individual);

  /// Withdraws a program from every island and offers it again, with its new evaluation, to the islands that
  /// had it. In a cell that it leaves, `heirs` are offered first; `heirs` is called once for each cell.
  Status replace(const IndividualPtr& measured,
                 const std::function<Result<std::vector<IndividualPtr>>(Cell)>& heirs);

  /// Island::settle.
  AddOutcome settle(IslandId id, IndividualPtr winner, ProgramId loser);

  /// Island::visit.
  void visit(IslandId id, std::optional<ProgramId> parent) { islands_.at(id.value).visit(parent); }

  /// Moves along every edge. All migrants are chosen before the first arrives, edge by edge in the topology's
  /// order, drawing from Rng(seed, epoch, Purpose::migration): the outcome depends only on the state, the
  /// seed and the epoch. Both islands then share the individual. A migrant settles like any newcomer.
  std::vector<MigrationMove> migrate(const Migration& policy, std::uint64_t seed, std::uint64_t epoch);

  /// The best elite of all islands: the highest fitness, the older program if equal; under the lexicographic
  /// rule, as Objectives::best_of(). Null while no program is accepted.
  IndividualPtr best() const;

  /// Each filled cell with the best elite of all islands, by the same rule.
  std::map<Cell, Elite> elites() const;

  /// The elites of all islands that no other elite dominates, each once, in the order of their programs.
  std::vector<IndividualPtr> front() const;

  /// Statistics over the cells of all islands together. A cell counts once, with its best elite.
  ArchiveStatistics statistics(double offset = 0) const;

  /// Canonical text of every island: its archive, its leaders with their visits, its rejections and its
  /// recent failures. Equal archipelagos have equal texts, byte for byte.
  std::string to_text() const;

 private:
  Topology topology_;
  std::vector<Island> islands_;
};

}  // namespace kernelsmith

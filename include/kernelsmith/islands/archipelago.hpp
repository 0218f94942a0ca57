// The archipelago: islands on a topology. It holds the islands' whole state. One committer owns it.
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

/// One individual that is offered to another island.
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

  /// See Island::add.
  std::optional<AddOutcome> add(IslandId id, IndividualPtr individual);

  /// Withdraws a program from every island and offers it again, with its new evaluation, to the islands that
  /// had it. `heirs` is called once for each cell that the program leaves. The individuals that it returns
  /// are offered to that cell first.
  Status replace(const IndividualPtr& measured,
                 const std::function<Result<std::vector<IndividualPtr>>(Cell)>& heirs);

  /// See Island::settle.
  AddOutcome settle(IslandId id, IndividualPtr winner, ProgramId loser);

  /// See Island::visit.
  void visit(IslandId id, std::optional<ProgramId> parent) { islands_.at(id.value).visit(parent); }

  /// Moves individuals along every edge. All migrants are chosen before the first arrives, edge by edge in
  /// the topology's order, with random numbers from Rng(seed, epoch, Purpose::migration). So the outcome
  /// depends only on the state, the seed and the epoch. Both islands then share the individual. A migrant is
  /// added like any newcomer.
  std::vector<MigrationMove> migrate(const Migration& policy, std::uint64_t seed, std::uint64_t epoch);

  /// The best elite of all islands: the one with the highest fitness; of equals, the older program. Under the
  /// lexicographic rule Objectives::best_of() decides. Null while no program is accepted.
  IndividualPtr best() const;

  /// For each filled cell, the best elite of all islands by the rule of best().
  std::map<Cell, Elite> elites() const;

  /// The elites of all islands that no other elite dominates. Each is listed once, in the order of the
  /// programs.
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

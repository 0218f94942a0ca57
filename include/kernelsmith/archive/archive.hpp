// The MAP-Elites archive. Each cell of a grid holds at most one elite or, with several objectives, a small
// Pareto front. The elite is the program whose fitness has the highest low end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/archive/grid.hpp>
#include <kernelsmith/archive/objectives.hpp>
#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// What an archive did with an individual that was offered to it.
enum class AddStatus {
  new_cell,    ///< its cell was empty: it is the elite now
  improved,    ///< it is better than the cell's elite and took its place
  joined,      ///< under ObjectiveRule::pareto: it was added to the cell's elites
  ambiguous,   ///< its low end is not higher, but the intervals overlap: another measurement may decide
  not_better,  ///< it is worse beyond the noise, has the same number without noise, or is the elite itself
};

std::string_view name_of(AddStatus status);

/// The result of offering an individual.
struct AddOutcome {
  AddStatus status = AddStatus::not_better;
  Cell cell;
  IndividualPtr incumbent;  ///< an elite that was in the cell before; null for `new_cell` and `joined`

  /// Returns true if the individual is the cell's elite now.
  bool placed() const {
    return status == AddStatus::new_cell || status == AddStatus::improved || status == AddStatus::joined;
  }
};

/// An elite of a cell.
struct Elite {
  Cell cell;
  double fitness = 0;  ///< its low end, kept next to the pointer for fast scans
  IndividualPtr individual;
};

/// Statistics of an archive.
struct ArchiveStatistics {
  std::uint64_t cells = 0;     ///< number of cells of the grid
  std::uint64_t filled = 0;    ///< cells that have an elite
  double coverage = 0;         ///< filled / cells
  double qd_score = 0;         ///< sum over the elites of fitness - offset
  std::optional<double> best;  ///< highest fitness; empty for an empty archive
  std::optional<double> mean;  ///< mean fitness of the elites
};

/// Statistics of a grid with `cells` cells whose elites have these fitness values. `offset` is the fitness of
/// a program that is worth nothing: with 0, an elite as fast as the baseline adds 1. Do not change `offset`
/// during a run, and choose it no higher than the lowest fitness. Then filling a cell never lowers the score.
ArchiveStatistics statistics_of(std::uint64_t cells, std::span<const double> fitness, double offset = 0);

/// A grid with its elites. With several objectives under ObjectiveRule::pareto a cell holds up to kMostInCell
/// elites: a newcomer must beat each of them in a feature or in the low end of its fitness. Elites that it
/// dominates leave. The cell's best low end and its best value of each feature never get worse. If a cell
/// overflows, the elite with the nearest neighbours is removed. Under ObjectiveRule::lexicographic a cell
/// holds one elite. A newcomer that wins by a later objective must not be slower, beyond the noise, than the
/// fastest elite that the cell ever had.
///
/// An archive holds accepted individuals only.
///
/// Not thread-safe; one owner (the engine's committer) changes it. Equal sequences of calls give equal
/// archives on every machine.
class Archive {
 public:
  static constexpr std::size_t kMostInCell = 8;

  explicit Archive(Grid grid, Objectives objectives = {})
      : grid_(std::move(grid)), objectives_(std::move(objectives)) {}

  /// Offers an accepted individual to its cell; throws std::invalid_argument for a rejected one. If fitness
  /// has no noise, the cell's best fitness does not depend on the order of arrival. Among equals the first
  /// stays.
  AddOutcome add(IndividualPtr individual);

  /// Records the result of a duel between two programs whose intervals overlapped. The winner takes the
  /// loser's cell even if the winner's low end is lower: the two were timed side by side. If the loser does
  /// not hold the winner's cell, the winner is added.
  AddOutcome settle(IndividualPtr winner, ProgramId loser);

  /// Removes `program` from all cells of which it is an elite, and returns those cells in ascending order.
  /// There are several if the program was measured again and an axis reads a measured feature.
  std::vector<Cell> withdraw(ProgramId program);

  const Grid& grid() const { return grid_; }
  const Objectives& objectives() const { return objectives_; }

  /// All elites, in ascending order of their cells; within a cell in the order of ranked(). Valid until the
  /// next change.
  std::span<const Elite> elites() const { return elites_; }

  /// The elite with the highest fitness in a cell; null if the cell is empty. Valid until the next change.
  const Elite* find(Cell cell) const;

  /// The elite at `rank` (0 is the best) by descending fitness; of equals the older program comes first.
  /// Requires rank < elites().size().
  const Elite& ranked(std::size_t rank) const;

  /// The best individual by Objectives::best_of: ranked(0), or another one under the lexicographic rule. Null
  /// while the archive is empty.
  IndividualPtr best() const;

  /// See statistics_of.
  ArchiveStatistics statistics(double offset = 0) const;

  /// Canonical text: first one line for each axis, then one line for each elite in the order of the cells. An
  /// elite's line has its cell, its program, and its fitness with the interval. Numbers have their shortest
  /// exact form. With several objectives the text also has the objectives and their features. Equal archives
  /// have equal texts, byte for byte.
  std::string to_text() const;

 private:
  struct Rank {
    double fitness;
    ProgramId program;
    Cell cell;
  };
  static bool outranks(const Rank& a, const Rank& b);

  AddOutcome place(Cell cell, IndividualPtr individual);

  // With several objectives (several_objectives.cpp). `beaten` is the elite that lost a duel.
  AddOutcome add_to_front(Cell cell, IndividualPtr individual, std::optional<ProgramId> beaten);
  AddOutcome add_in_order(Cell cell, IndividualPtr individual);
  AddOutcome place_in_order(Cell cell, IndividualPtr individual, std::size_t decided_by);
  std::span<const Elite> front_of(Cell cell) const;
  void insert(Cell cell, IndividualPtr individual);
  void remove(Cell cell, ProgramId program);
  std::optional<ProgramId> most_crowded(Cell cell) const;
  std::string objectives_text(const Elite& elite) const;

  Grid grid_;
  Objectives objectives_;
  std::map<Cell, Measurement>
      fastest_;                ///< the fastest elite that each cell ever had, under the lexicographic rule
  std::vector<Elite> elites_;  ///< sorted by cell, then by outranks
  std::vector<Rank> ranking_;  ///< the same elites, sorted by outranks only
};

}  // namespace kernelsmith

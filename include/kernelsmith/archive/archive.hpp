// The MAP-Elites archive: at most one elite for each cell of a grid. An elite is replaced only by a program
// that is better beyond the noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/archive/grid.hpp>
#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// What became of an individual that was offered to an archive.
enum class AddStatus {
  new_cell,    ///< its cell was empty: it is the elite now
  improved,    ///< it is better than the cell's elite and took its place
  ambiguous,   ///< the intervals overlap: the elite stays until a duel is settled
  not_better,  ///< it is worse, the same number without noise, or the very program that stands there
};

std::string_view name_of(AddStatus status);

/// What became of an individual that was added.
struct AddOutcome {
  AddStatus status = AddStatus::not_better;
  Cell cell;
  IndividualPtr incumbent;  ///< the elite that stood there before; null for `new_cell`

  /// True if the individual is the cell's elite now.
  bool placed() const { return status == AddStatus::new_cell || status == AddStatus::improved; }
};

/// The best known program of a cell.
struct Elite {
  Cell cell;
  double fitness = 0;  ///< the median, kept beside the pointer for fast scans
  IndividualPtr individual;
};

/// What the archive holds, in figures.
struct ArchiveStatistics {
  std::uint64_t cells = 0;     ///< of the grid
  std::uint64_t filled = 0;    ///< that have an elite
  double coverage = 0;         ///< filled / cells
  double qd_score = 0;         ///< sum over the elites of fitness - offset
  std::optional<double> best;  ///< highest fitness; empty for an empty archive
  std::optional<double> mean;  ///< mean fitness of the elites
};

/// Statistics of a grid of `cells` cells whose elites have these fitness values. `offset` is the fitness of a
/// program that is worth nothing: with 0 an elite as fast as the baseline adds 1. Keep it fixed over a run,
/// and at most the lowest fitness, so that the score never falls when a cell is filled.
ArchiveStatistics statistics_of(std::uint64_t cells, std::span<const double> fitness, double offset = 0);

/// A grid with its elites. Holds accepted individuals only: a rejection owns no cell.
///
/// Not thread-safe; one owner (the engine's committer) changes it. Equal sequences of calls give equal
/// archives on every machine.
class Archive {
 public:
  explicit Archive(Grid grid) : grid_(std::move(grid)) {}

  /// Offers an accepted individual to its cell; throws std::invalid_argument for a rejected one. For numbers
  /// without noise the cell's best fitness does not depend on the order of arrival; among equals the first to
  /// arrive stays.
  AddOutcome add(IndividualPtr individual);

  /// Ends a duel that an `ambiguous` add asked for; the verdict compares challenger with incumbent, as
  /// compare(*report.duel, Measurement::exact(1)) does. With `better` the challenger takes the cell, even if
  /// its own median is the lower one: the two were timed side by side. With `worse` or `ambiguous` the
  /// incumbent stays (`not_better`). If the incumbent no longer holds the challenger's cell, a challenger
  /// that won is added as a newcomer, which can ask for another duel.
  AddOutcome settle(IndividualPtr challenger, ProgramId incumbent, Comparison verdict);

  /// Empties the cells whose elite is `program`, and returns which they were, in ascending order. There are
  /// several if it was measured again and an axis reads what is measured.
  std::vector<Cell> withdraw(ProgramId program);

  const Grid& grid() const { return grid_; }

  /// In ascending order of their cells. Valid until the next change.
  std::span<const Elite> elites() const { return elites_; }

  /// Null if the cell is empty. Valid until the next change.
  const Elite* find(Cell cell) const;

  /// The elite at `rank`, 0 for the best: by fitness, descending; equals by program, the older first.
  /// Requires rank < elites().size().
  const Elite& ranked(std::size_t rank) const;

  /// ranked(0)'s individual, or null.
  IndividualPtr best() const;

  /// See statistics_of.
  ArchiveStatistics statistics(double offset = 0) const;

  /// Canonical text: one line for each axis, then one for each elite in the order of the cells (cell,
  /// program, fitness with its interval, every number in its shortest exact form). Equal archives have equal
  /// texts, byte for byte.
  std::string to_text() const;

 private:
  struct Rank {
    double fitness;
    ProgramId program;
    Cell cell;
  };
  static bool outranks(const Rank& a, const Rank& b);

  AddOutcome place(Cell cell, IndividualPtr individual);

  Grid grid_;
  std::vector<Elite> elites_;  ///< sorted by cell
  std::vector<Rank> ranking_;  ///< the same elites, sorted by outranks
};

}  // namespace kernelsmith

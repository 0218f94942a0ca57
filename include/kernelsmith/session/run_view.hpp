// RunView: a stored run for display, during the run or later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/engine/search_state.hpp>
#include <kernelsmith/session/session.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

/// A program on the path from the seed to the best, with the difference to its predecessor.
struct LineageStep {
  IndividualPtr individual;
  std::string diff;  ///< a unified diff; empty for the first step
};

/// A run, rebuilt from its journal. Immutable.
struct RunView {
  std::string run_id;
  std::filesystem::path folder;
  std::filesystem::path best_folder;
  /// False if a program that uses the library began the run. Then `task` has only its digest, and `config`
  /// only seed, deterministic and budgets.
  bool has_task = true;
  bool evaluator_changed = false;  ///< the file of a Python evaluator has changed since the run began
  Task task;
  RunConfig config;
  std::shared_ptr<const RunStore> store;  ///< `state` reads programs from it that are not in memory
  SearchState state;
  IndividualPtr latest_best;  ///< the best program by its last measurement; null while nothing was accepted
  /// The steps from the seed to the best, along the first parents. Empty while nothing was accepted.
  std::vector<LineageStep> lineage_of_best;
  /// False if an axis reads a feature that only the program that began the run can compute. Then the cells
  /// are unknown.
  bool has_cells = true;
  /// For one reason: the number of refused proposals, and the ticket and the detail of the last.
  struct Refusals {
    std::uint64_t count = 0;
    TicketId last;
    std::string detail;
  };
  std::map<RefusalCode, Refusals> refusals;
  /// Programs that are not evaluated any more because workers of a fleet were lost while they evaluated them.
  std::vector<ProgramId> lost_workers;
  /// The number of evaluations and calls that ended in each error.
  std::map<ErrorCode, std::uint64_t> given_back = {};
  EndReason reason = EndReason::unfinished;  ///< the reason with the present budgets; never `stopped` or
                                             ///< `errors`
  bool in_use = false;                       ///< a process is writing the run
  /// The number of calls without an answer in the journal. They are under way if the run is in use; else they
  /// were interrupted.
  std::uint64_t calls_under_way = 0;
  std::uint64_t answers_on_their_way = 0;  ///< number of answers that arrived and are not in the journal yet

  /// The cost of calls, including those of a killed process.
  Spending spending() const;

  /// See SearchState::expected_gain. Also empty if nothing is left to propose or the estimate overflows a
  /// double.
  std::optional<ExpectedGain> expected_gain() const;

  /// The best program's evaluation: that of the confirmation, if there is one. Null while nothing was
  /// accepted.
  const Evaluation* best_evaluation() const;

  /// See SearchState::shown.
  IndividualPtr shown(IndividualPtr one) const { return state.shown(std::move(one)); }
  /// shown() for the program with this id. Errors: SearchState::individual's.
  Result<IndividualPtr> individual(ProgramId id) const;

  /// Each filled cell of the grid with the best elite of all islands.
  std::map<Cell, Elite> elites() const;

  /// The digest of the archipelago's canonical text: equal searches have equal digests.
  Digest archive_digest() const;
};

/// The number that people see for an accepted program: its speedup over the baseline, or its fitness if there
/// is no baseline.
const Measurement& score_of(const Evaluation& accepted);

/// Opens the run folder for reading and replays its journal. A run without a task is replayed with the
/// settings in its journal. Errors: load_stored_run's and RunStore's.
Result<RunView> view_run(const std::filesystem::path& folder, const Registry& registry);

/// Writes the run as JSON lines (docs/formats.md): programs, evaluations, lineage, kept replies. Reads the
/// journal again, for every attempt of every evaluation. Errors: `io` if `out` fails.
Status export_run(const RunView& view, std::ostream& out);

/// Writes a CSV with a record for each program (docs/formats.md): verdict, measurements, and a column for
/// each knob. Errors: those of reading the journal; `io` if `out` fails.
Status export_table(const RunView& view, std::ostream& out);

/// The digest of the archipelago of a running search, like RunView::archive_digest.
Digest archive_digest(const SearchState& state);

}  // namespace kernelsmith

// RunView: a stored run as it can be shown, while it is written or long after.
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

/// A program on the way from the seed to the best, with the difference to the one before it.
struct LineageStep {
  IndividualPtr individual;
  std::string diff;  ///< unified; empty for the first
};

/// A run, rebuilt from its journal. Immutable.
struct RunView {
  std::string run_id;
  std::filesystem::path folder;
  std::filesystem::path best_folder;
  /// False for a run that a program began which links the library: of `task` only the digest is known then,
  /// and of `config` only seed, deterministic and budgets.
  bool has_task = true;
  bool evaluator_changed = false;  ///< the file of a Python evaluator, since the run was begun
  Task task;
  RunConfig config;
  std::shared_ptr<const RunStore> store;  ///< if `state` reads programs that are held no more
  SearchState state;
  IndividualPtr latest_best;  ///< the best program as it was measured last; null while nothing was accepted
  /// From the seed to the best, along the first parents; empty while nothing was accepted.
  std::vector<LineageStep> lineage_of_best;
  /// False if an axis reads what the program that began the run computed: the cells are not known then.
  bool has_cells = true;
  /// Proposals without a child, by why: how many, and the last one's ticket and detail.
  struct Refusals {
    std::uint64_t count = 0;
    TicketId last;
    std::string detail;
  };
  std::map<RefusalCode, Refusals> refusals;
  /// Programs that nobody evaluates any more, because workers of a fleet were lost on them.
  std::vector<ProgramId> lost_workers;
  /// Evaluations and calls that ended without a verdict or a child, by the error that ended them.
  std::map<ErrorCode, std::uint64_t> given_back = {};
  EndReason reason = EndReason::unfinished;  ///< with the budgets as they stand; never `stopped` or `errors`
  bool in_use = false;                       ///< a process is writing the run
  /// Calls that the journal has no answer to: under way if the run is in use, else interrupted.
  std::uint64_t calls_under_way = 0;
  std::uint64_t answers_on_their_way = 0;  ///< that had arrived, and wait for the journal

  /// What calls cost, those included that a killed process left.
  Spending spending() const;

  /// SearchState::expected_gain; empty too if nothing is left to propose, or if the estimate is beyond a
  /// double.
  std::optional<ExpectedGain> expected_gain() const;

  /// The best program's evaluation; the confirmation's if it was confirmed. Null while there is none.
  const Evaluation* best_evaluation() const;

  /// SearchState::shown.
  IndividualPtr shown(IndividualPtr one) const { return state.shown(std::move(one)); }
  /// The same by its number. Errors: SearchState::individual's.
  Result<IndividualPtr> individual(ProgramId id) const;

  /// Each filled cell of the grid with the best elite of all islands.
  std::map<Cell, Elite> elites() const;

  /// The digest of the archipelago's canonical text: equal searches have equal digests.
  Digest archive_digest() const;
};

/// What people see as the number of an accepted program: its speedup over the baseline, or its fitness if
/// there is none.
const Measurement& score_of(const Evaluation& accepted);

/// Opens the run folder for reading and replays its journal; one without a task by the settings that stand
/// there. Errors: load_stored_run's and RunStore's.
Result<RunView> view_run(const std::filesystem::path& folder, const Registry& registry);

/// Writes the run as JSON lines (docs/formats.md): programs, evaluations, lineage, kept
/// replies. Reads the journal once
/// more, for every attempt of every evaluation; `io` if `out` fails.
Status export_run(const RunView& view, std::ostream& out);

/// The digest of a live archipelago, as RunView::archive_digest.
Digest archive_digest(const SearchState& state);

}  // namespace kernelsmith

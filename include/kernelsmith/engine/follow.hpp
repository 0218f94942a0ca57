// Following: a recorded run is repeated step by step, in the order in which its answers took effect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/engine/options.hpp>

namespace kernelsmith {

class SearchState;

/// What becomes of the recorded evaluations.
enum class RecordedEvaluations {
  measured,  ///< every one is done again
  kept,      ///< they are taken as they stand: no evaluator is asked
};

/// How far a recorded run was followed.
struct Followed {
  enum class End {
    whole,    ///< to the recording's last event
    parted,   ///< the search does something else than the recording: its numbers or its settings differ
    stopped,  ///< on request
    failed,   ///< an evaluation ended in Errors
  };
  End end = End::whole;
  std::optional<Error> why;  ///< for `parted` (`not_found`) and `failed`
};

/// Where in a recording a run stands.
struct Place {
  std::uint64_t position = 0;                   ///< of the recording's last event that the run has
  std::optional<Budgets> budgets;               ///< in force behind it; empty if the recording is empty
  std::map<std::string, std::string> settings;  ///< likewise
  bool fits = true;  ///< false: the run holds something that the recording does not
};

/// Whether two runs did the same: measurements, times and attempts may differ.
bool same_step(const Event& one, const Event& other);

/// Whether a run in this state would do what `recorded` says, or takes it as an answer. The clock is the
/// recording's: a ticket that it opened was opened in time.
bool would_do(const SearchState& state, const Event& recorded);

/// Compares the beginning of `recording` with the whole of `own`.
Result<Place> place_in(const Journal& recording, const Journal& own);

}  // namespace kernelsmith

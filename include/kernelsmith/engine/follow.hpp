// Follow: repeats a recorded run step by step, in the order in which its answers took effect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/engine/options.hpp>

namespace kernelsmith {

class SearchState;

/// How recorded evaluations are used.
enum class RecordedEvaluations {
  measured,  ///< every evaluation is repeated
  kept,      ///< evaluations are taken from the recording
};

/// How following a recorded run ended.
struct Followed {
  enum class End {
    whole,    ///< the run reached the recording's last event
    parted,   ///< the search does something that is not in the recording: numbers or settings differ
    stopped,  ///< the run was stopped on request
    failed,   ///< an evaluation failed with Errors
  };
  End end = End::whole;
  std::optional<Error> why;  ///< for `parted` (`not_found`) and `failed`
};

/// The position of a run in its recording.
struct Place {
  std::uint64_t position = 0;      ///< position of the last event of the recording that the run contains
  std::optional<Budgets> budgets;  ///< budgets of the session that this event is in; empty if the recording
                                   ///< is empty
  std::map<std::string, std::string> settings;  ///< that session's settings
  bool fits = true;                             ///< false: the run has events that the recording lacks
};

/// Whether two events are equal except in measurements, times and attempts.
bool same_step(const Event& one, const Event& other);

/// Whether a run in this state would produce `recorded`, or can take it as an answer. Time comes from the
/// recording: every ticket in it was opened in time.
bool would_do(const SearchState& state, const Event& recorded);

/// Compares the beginning of `recording` with the whole of `own`.
Result<Place> place_in(const Journal& recording, const Journal& own);

}  // namespace kernelsmith

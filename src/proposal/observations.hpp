// Converts what a request says about its parent's knobs to data for the search for the next point.
#pragma once

#include <vector>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/tuning/search.hpp>

namespace kernelsmith::detail {

/// A knob is a number if all its values are numbers, else a choice.
TuningSpace space_of(const std::vector<Knob>& knobs, const KnobRules& rules);

/// Observations from the individuals with the parent's structure, for a request without Selection::knobs.
KnobHistory shown_history(const Selection& selection);

/// Converts the history to observations; the parent's own point is always known. If all fitness values are
/// positive, they are ratios of times and the cost is the inverse. Otherwise the logarithms of costs differ
/// like the fitness values.
std::vector<TuningObservation> observations_of(const KnobHistory& history, const KnobPoint& parent);

}  // namespace kernelsmith::detail

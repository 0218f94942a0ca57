// What a request shows of its parent's knobs, in the terms of the search for the next point.
#pragma once

#include <vector>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/tuning/search.hpp>

namespace kernelsmith::detail {

/// Numbers if all values of a knob are some, else a choice.
TuningSpace space_of(const std::vector<Knob>& knobs);

/// What the individuals show that are of the parent's structure, for a request without Selection::knobs.
KnobHistory shown_history(const Selection& selection);

/// The history as observations; the parent's own point is known in any case. A fitness is a ratio of times if
/// none is zero or less: its inverse is the cost. Else costs are such that their logarithms differ as the
/// fitness does.
std::vector<TuningObservation> observations_of(const KnobHistory& history, const KnobPoint& parent);

}  // namespace kernelsmith::detail

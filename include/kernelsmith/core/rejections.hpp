// What a verdict means for whoever learns from it, beyond its code.
#pragma once

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

/// Whether a candidate that was rejected with this code had compiled.
bool had_compiled(RejectionCode code);

/// Whether a candidate that was rejected with this code tried to cheat the measurement.
bool evades_measurement(RejectionCode code);

/// Whether an accepted candidate has no kernel of its own, as far as its backend counts them.
bool lacks_own_kernel(const Evaluation& evaluation);

}  // namespace kernelsmith

// Reads and writes the key `objectives` of run.yaml.
#pragma once

#include <kernelsmith/archive/objectives.hpp>
#include <kernelsmith/config/section.hpp>

namespace kernelsmith {

/// A list of names, each with `min` or `max` before it unless its direction is known, or that list under the
/// name of a rule.
void list_objectives(Section& run, Objectives& objectives);

}  // namespace kernelsmith

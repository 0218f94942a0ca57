// The key `objectives` of run.yaml, both ways.
#pragma once

#include <kernelsmith/archive/objectives.hpp>
#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith {

/// A list of names, each with `min` or `max` before it unless its better end is known, or that list under the
/// name of a rule. Leaves the objectives as they are if the key is absent.
void read_objectives(YamlMap& in, Objectives& objectives);

/// Nothing for the fitness alone: a run.yaml of an older build has no such key.
void write_objectives(YamlWriter& out, const Objectives& objectives);

}  // namespace kernelsmith

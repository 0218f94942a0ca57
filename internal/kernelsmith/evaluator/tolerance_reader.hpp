// The key `tolerance` of a task.yaml: a mapping, or a number. A task has one, and workloads of modules may
// have one.
#pragma once

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Reads the key at `in`, if it is there, and refuses what tasks of the form cannot have.
void read_tolerance(YamlMap& in, Tolerance& tolerance, TaskForm form);

/// Whether read_tolerance() could have given it: for one that was received in a message.
bool is_valid(const Tolerance& tolerance);

}  // namespace kernelsmith

// Reads the key `tolerance` of a task.yaml: a mapping, or a number.
#pragma once

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith::task {

void read_tolerance(YamlMap& root, Tolerance& tolerance, TaskForm form);

}  // namespace kernelsmith::task

// Shared functions of the readers of a task.yaml.
#pragma once

#include <string_view>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith::task {

/// Refuses another program's name for one of our keys, and suggests ours. Call it before YamlMap::only(),
/// which only compares spelling.
void refuse_foreign_keys(YamlMap& in, const Meaning& meaning);

/// Refuses a name that generated C++ cannot use.
void require_identifier(YamlMap& in, std::string_view key, std::string_view name);

}  // namespace kernelsmith::task

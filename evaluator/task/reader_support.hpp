// What the readers of a task.yaml share.
#pragma once

#include <string_view>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith::task {

/// Refuses a key by which others call one of ours, with ours. Before YamlMap::only(), which knows letters
/// alone.
void refuse_foreign_keys(YamlMap& in, const Meaning& meaning);

/// Refuses a name that cannot stand in generated C++.
void require_identifier(YamlMap& in, std::string_view key, std::string_view name);

}  // namespace kernelsmith::task

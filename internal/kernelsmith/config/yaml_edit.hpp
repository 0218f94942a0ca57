// Sets single values in a YAML document that somebody else wrote. Comments are lost. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Sets the value at a path of keys to a text. Missing mappings on the path are created. Errors: `bad_input`
/// for a document that is not a YAML mapping.
Result<std::string> yaml_with(std::string_view text, const std::vector<std::string>& path,
                              const std::string& value);

/// Appends an item to the list at the path. A single text counts as a list with one item.
Result<std::string> yaml_with_item(std::string_view text, const std::vector<std::string>& path,
                                   const std::string& item);

}  // namespace kernelsmith

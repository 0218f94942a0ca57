// Sets single values in a YAML document that somebody else wrote. Comments are lost. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// The document with a text at a path of keys, in place of what stands there; mappings on the way are made if
/// they are missing. Errors: `bad_input` for what is no mapping in YAML.
Result<std::string> yaml_with(std::string_view text, const std::vector<std::string>& path,
                              const std::string& value);

/// The document with one more item in the list at the path; a single text there is a list of one.
Result<std::string> yaml_with_item(std::string_view text, const std::vector<std::string>& path,
                                   const std::string& item);

}  // namespace kernelsmith

// Converts JSON text to a document and back.
#pragma once

#include <string>
#include <string_view>

#include "json_codec.hpp"

namespace kernelsmith::detail {

/// Throws JsonRefusal for broken syntax, a repeated key and nesting deeper than 64 levels.
Json parse_document(std::string_view text);

/// Sorted keys, no white space.
std::string write_document(const Json& document);

}  // namespace kernelsmith::detail

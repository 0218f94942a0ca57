// A source in the form that to_json() writes, read without building a document: most of what a journal holds.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::detail {

/// The files of `[{"path":"...","text":"..."},...]` without white space, in ASCII and simple escapes. Nothing
/// for all else, broken or not: parse_document() reads that.
std::optional<std::vector<SourceFile>> read_plain_source(std::string_view json);

}  // namespace kernelsmith::detail

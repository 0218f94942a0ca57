// How many tokens a text will cost, before a server has counted them.
#pragma once

#include <cstddef>
#include <string_view>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// An estimate that means to lie a little above what the usual tokenizers count (docs/prompts.md has what
/// was measured). For code and prose it is at least the count; for noise such as base64 it can be a
/// third below.
std::size_t estimate_tokens(std::string_view text);
/// The sum over all files.
std::size_t estimate_tokens(const Source& source);

}  // namespace kernelsmith

// Estimates the number of tokens of a text before a server counts them.
#pragma once

#include <cstddef>
#include <string_view>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// An estimate that is meant to be slightly above the counts of common tokenizers (docs/prompts.md has
/// measurements). For code and prose it is never below the count. For noise such as base64 it can be a third
/// too low.
std::size_t estimate_tokens(std::string_view text);
/// The sum over all files.
std::size_t estimate_tokens(const Source& source);

}  // namespace kernelsmith

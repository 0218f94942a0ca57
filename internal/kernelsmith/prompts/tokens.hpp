// Estimates the number of tokens of a text before a server counts them.
#pragma once

#include <cstddef>
#include <string_view>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// An estimate that is intended to be slightly above the count of common tokenizers (measurements:
/// docs/prompts.md). For code and prose it is never below the count; for noise such as base64 it can be a
/// third below.
std::size_t estimate_tokens(std::string_view text);
/// The sum over all files.
std::size_t estimate_tokens(const Source& source);

}  // namespace kernelsmith

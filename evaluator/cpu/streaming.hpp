// Copying past the caches: inputs laid out this way are cold when the candidate gets to them, without
// rotating over more memory than the last cache level holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelsmith {

/// Copies to a 64-byte aligned destination.
void streaming_copy(std::byte* to, const std::byte* from, std::size_t bytes);

/// Fills a 64-byte aligned destination with a repeated word.
void streaming_fill(std::byte* to, std::size_t bytes, std::uint32_t word);

}  // namespace kernelsmith

// Reads a cubin. A candidate influences its bytes through the compiler, so they are parsed as untrusted data.
// A pure function.
#pragma once

#include <cstddef>
#include <span>

#include <kernelsmith/core/result.hpp>

#include "toolchain/image_facts.hpp"

namespace kernelsmith::cuda {

/// Errors: bad_input if the bytes are not a cubin.
Result<ImageFacts> read_cubin(std::span<const std::byte> bytes);

}  // namespace kernelsmith::cuda

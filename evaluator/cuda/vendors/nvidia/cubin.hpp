// What a cubin says of itself. The bytes come out of a compiler that a candidate fed, so they are parsed as
// an adversary's words. A pure function.
#pragma once

#include <cstddef>
#include <span>

#include <kernelsmith/core/result.hpp>

#include "toolchain/image_facts.hpp"

namespace kernelsmith::cuda {

/// Errors: bad_input if the bytes are no cubin.
Result<ImageFacts> read_cubin(std::span<const std::byte> bytes);

}  // namespace kernelsmith::cuda

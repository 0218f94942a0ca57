// How the arenas draw an input of type `random`, as Python expressions for a task's get_inputs().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "arena_schema.hpp"

namespace kernelsmith::arena {

/// The expression that makes the tensor, as the arena draws it: SOL-ExecBench goes by its name and
/// description, FlashInfer-Bench by its dtype. Errors: unsupported, for dtypes that a task cannot have.
Result<std::string> drawn(Arena arena, const Definition& definition, const Argument& tensor,
                          const std::vector<std::int64_t>& extents);

}  // namespace kernelsmith::arena

// How the arenas draw an input of type `random`, as Python expressions for a task's get_inputs().
#pragma once

#include <string>
#include <string_view>

#include "arena_schema.hpp"

namespace kernelsmith::arena {

/// The expression that makes the tensor, as the arena draws it: SOL-ExecBench goes by its name and
/// description, FlashInfer-Bench by its dtype. The axes of its shape are Python's variables.
std::string drawn(Arena arena, const Definition& definition, const Argument& tensor);

/// Whether what drawn() gave is a mask, a probability, a table or the like, and not plain random numbers.
bool has_structure(std::string_view drawn);

}  // namespace kernelsmith::arena

// The texts of a torch task for one workload of an arena's problem.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/session/arenas.hpp>

#include "arena_schema.hpp"

namespace kernelsmith::arena {

/// The bytes of inputs that the workload reads from safetensors, by the inputs' names.
using StoredValues = std::map<std::string, std::string, std::less<>>;

/// task.yaml, reference.py and a file for each of the stored values. `chosen` stays empty. Errors:
/// unsupported for what a torch task cannot hold; bad_input.
Result<ArenaTask> write_arena_task(Arena arena, const Definition& definition, const Workload& workload,
                                   const StoredValues& stored);

}  // namespace kernelsmith::arena

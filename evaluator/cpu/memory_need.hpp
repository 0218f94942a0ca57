// How much memory it takes to prepare a task, asked before it is taken.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith::cpu {

/// Bytes of the fewest sets that a bank holds, of two places for kernels, and of the oracles that answer one
/// call each, `oracle_threads` at a time.
std::size_t memory_needed(const Task& task, const std::vector<TaskShape>& shapes, std::size_t oracle_threads);

/// What the machine can still give (MemAvailable); the largest number if it does not say.
std::size_t memory_free();

/// Errors: unsupported if the machine has less than the task needs.
Status check_memory(const Task& task, const std::vector<TaskShape>& shapes, std::size_t oracle_threads);

}  // namespace kernelsmith::cpu

// How much memory it takes to prepare a task, asked before it is taken.
#pragma once

#include <cstddef>
#include <vector>

#include "bank.hpp"

namespace kernelsmith {

/// Bytes of the fewest sets that a bank holds, and of the oracles that answer them with all variants,
/// `oracles` of them at a time.
std::size_t memory_needed(const Task& task, const std::vector<TaskShape>& shapes, std::size_t least_sets,
                          std::size_t oracles);

/// What the machine can still give (MemAvailable); the largest number where it does not say.
std::size_t memory_free();

/// Errors: unsupported where the machine has less than the task needs.
Status check_memory(const Task& task, const std::vector<TaskShape>& shapes, std::size_t least_sets,
                    std::size_t oracles);

}  // namespace kernelsmith

// Estimates the memory for preparing a task before it is allocated.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith::cpu {

/// The bytes for the smallest bank of sets, for two places for kernels, and for the oracles, of which
/// `oracle_threads` answer one call each at the same time.
std::size_t memory_needed(const Task& task, const std::vector<TaskShape>& shapes, std::size_t oracle_threads);

/// The machine's available memory (MemAvailable); the largest number if unknown.
std::size_t memory_free();

/// Checks that the machine has enough memory for the task. Errors: unsupported.
Status check_memory(const Task& task, const std::vector<TaskShape>& shapes, std::size_t oracle_threads);

}  // namespace kernelsmith::cpu

// Estimates the memory for preparing a task before it is allocated.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith::cpu {

/// The bytes of the smallest bank of sets, of two places for kernels, and of the oracles, `oracle_threads` of
/// which answer one call each at the same time.
std::size_t memory_needed(const Task& task, const std::vector<TaskShape>& shapes, std::size_t oracle_threads);

/// The machine's available memory (MemAvailable); the largest number if unknown.
std::size_t memory_free();

/// Checks that the machine has enough memory for the task. Errors: unsupported.
Status check_memory(const Task& task, const std::vector<TaskShape>& shapes, std::size_t oracle_threads);

}  // namespace kernelsmith::cpu

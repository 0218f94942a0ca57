// The bank: secret inputs with their expected outputs, made once per task and run.
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/input_set.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith::truth {

/// As many sets as memory and patience permit. Makes them on `threads` threads, each with oracles of its own.
/// Errors: refused if the reference fails or its outputs at a timed shape are never finite; those of the
/// oracles; cancelled.
Result<Bank> make_bank(const Task& task, const std::vector<TaskShape>& shapes, const OracleFactory& oracles,
                       std::size_t threads, const BankLimits& limits, const std::stop_token& stop);

/// Whether an output is the same whatever the inputs are: what is expected of one set is right for the
/// others.
bool is_unmoved(std::span<const InputSet> sets, std::size_t tensor);

}  // namespace kernelsmith::truth

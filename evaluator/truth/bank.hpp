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

/// Makes as many sets as the limits of memory and time permit, on `threads` threads, each with its own
/// oracles. Errors: refused if the reference fails or its outputs at a timed shape are never finite; those of
/// the oracles; cancelled.
Result<Bank> make_bank(const Task& task, const std::vector<TaskShape>& shapes, const OracleFactory& oracles,
                       std::size_t threads, const BankLimits& limits, const std::stop_token& stop);

/// Whether an output does not depend on the inputs: one set's expected outputs pass for the others.
bool is_unmoved(std::span<const InputSet> sets, std::size_t tensor);

}  // namespace kernelsmith::truth

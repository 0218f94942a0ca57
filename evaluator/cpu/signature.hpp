// Generates C++ from a task's tensors: the header that declares the entry, and the shims that unpack a row of
// the call table.
#pragma once

#include <string>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith::cpu {

/// The declaration of the entry's parameters.
std::string parameter_list(const Task& task);

/// The header task.hpp: the entry, and `<entry>_inputs` if the task has a generator. In a wider precision
/// it also makes `float` (and `double` if that is long double) mean the wide type, and the f-suffixed
/// functions their generic forms (with_wide_literals() widens literals). These macros come after the standard
/// headers that `user` includes.
std::string task_header(const Task& task, OraclePrecision precision, const Source& user = {});

/// A translation unit that defines runner::kShimSymbol. It refers to the entry only by its C linkage, so that
/// one shim works for every precision.
std::string shim_source(const Task& task);

/// The shim of the generator, whose tensors are those with input values (has_input()), then one with the
/// seed.
std::string generator_shim_source(const Task& task);

}  // namespace kernelsmith::cpu

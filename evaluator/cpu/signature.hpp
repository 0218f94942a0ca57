// Generates C++ from a task's tensors: the header that declares the entry, and the shims that unpack a row of
// the call table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith::cpu {

/// The C++ type of a tensor's elements; empty if there is none (f16, bf16, fp8).
std::string_view cpp_type(Dtype dtype);

/// Bytes of an element in a source that is built in that precision.
std::size_t element_bytes(Dtype dtype, OraclePrecision precision);

/// The names of the entry's last arguments: the sizes in the order of task.yaml.
std::vector<std::string> size_names(const Task& task);

/// The declaration of the entry's parameters.
std::string parameter_list(const Task& task);

/// A message if the entry's or the generator's parameters have a wrong order in a source; else empty.
std::string exchanged_parameters(const Task& task, const Source& source, bool generator);

/// The header task.hpp: the entry, and `<entry>_inputs` if the task has a generator. In a wider precision
/// it also makes `float` (and `double` if that is long double) mean the wide type, and the f-suffixed
/// functions their generic forms (with_wide_literals() widens literals). These macros come after the standard
/// headers that `user` includes.
std::string task_header(const Task& task, OraclePrecision precision, const Source& user = {});

/// A translation unit that defines runner::kShimSymbol. It refers to the entry only by its C linkage, so that
/// one shim works for every precision.
std::string shim_source(const Task& task);

/// The same for the generator: its tensors are those with input values, then one with the seed.
std::string generator_shim_source(const Task& task);

/// Whether the tensor is one of the generator's arguments: all except those that are only written.
bool has_input(const TensorSpec& tensor);

}  // namespace kernelsmith::cpu

// The C++ that is generated from a task's tensors: the header that declares the entry, and the shim that
// unpacks a row of the call table.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// In which types a source is built.
enum class Precision {
  declared,  ///< as the task says
  promoted,  ///< every real type one step wider, for the truth: see widened()
};

/// The C++ type of a tensor's elements; empty where there is none (f16, bf16).
std::string_view cpp_type(Dtype dtype);

/// The real type that the truth is computed in: double, or long double where the task has f64 tensors.
std::string_view truth_type(const Task& task);

/// The entry's parameters as they are declared.
std::string parameter_list(const Task& task);

/// The header task.hpp. Promoted, it also makes `float` (and `double` in a task with f64 tensors) mean the
/// truth type and the f-suffixed functions their generic forms, behind the standard headers that `user`
/// includes, which must not see those macros.
std::string task_header(const Task& task, Precision precision, const Source& user = {});

/// A translation unit that defines runner::kShimSymbol. It knows the entry by its C linkage alone, so that
/// one shim serves every precision.
std::string shim_source(const Task& task);

/// The real number type of the promoted tensors, with its size.
std::size_t promoted_bytes(const Task& task, Dtype dtype);

/// True for f64, f32, f16, bf16.
bool is_real(Dtype dtype);

}  // namespace kernelsmith

// The parameters of a task's C++ functions: how they are declared and called, and whether a definition takes
// its arguments in the order in which they are passed. Names have no meaning for the compiler: two sizes that
// are exchanged give wrong results and no message.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/oracle.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith {

/// Names of adjacent arguments that could be exchanged: the tensors, the sizes.
using ParameterGroups = std::vector<std::vector<std::string>>;

/// A message if the definition of `function` in a C++ or CUDA source has the names of a group in another
/// order. Empty if it has other names or is not found.
std::string exchanged_parameters(const Source& source, std::string_view function, const ParameterGroups& due);

/// One of the task's own sources, or one of kernelsmith's.
struct TrustedSource {
  const Source& source;
  std::string what;  ///< such as "reference", as it is called in task.yaml's `files`
  OraclePrecision precision = OraclePrecision::declared;
  bool generator = false;  ///< it defines `<entry>_inputs`, not the entry
};

/// The same for a source of the task: its entry's tensors and sizes, or its generator's.
std::string exchanged_parameters(const Task& task, const Source& source, bool generator = false);
/// Errors: refused, with that.
Status check_parameters(const Task& task, const TrustedSource& trusted);
/// Errors: refused, or the machine's. `wide` and `instead` are of a source that is built in a wider type.
Error does_not_compile(const TrustedSource& trusted, const Failure& failure, const std::string& wide,
                       const std::string& instead);

/// The function of a source of generated inputs.
std::string generator_of(const Task& task);
/// Whether the entry reads it.
bool has_input(const TensorSpec& tensor);
/// In the order of the entry's parameters.
std::vector<std::string> size_names(const Task& task);
/// With ", " between them.
std::string listed(const std::vector<std::string>& items);
/// Empty if C++ has no such type (f16, bf16, fp8).
std::string_view cpp_type(Dtype dtype);
/// Bytes of an element in a source that is built in that precision.
std::size_t element_bytes(Dtype dtype, OraclePrecision precision);
/// "const float* __restrict x" and the like, then the sizes.
std::vector<std::string> entry_parameters(const Task& task,
                                          const std::function<std::string_view(Dtype)>& type_of,
                                          const std::string& restrict);
std::string declaration(const std::string& function, const std::vector<std::string>& parameters);

/// A function that calls one of a task's.
struct Shim {
  std::string symbol, function;
  std::size_t tensors = 0;  ///< arguments in front of the sizes
  /// Behind the sizes: what the function takes, and what it is given.
  std::vector<std::string> more_parameters = {}, more_arguments = {};
  std::string also_taken = "";  ///< behind the shim's own parameters: ", void* stream"
};
/// The declaration of the function, and the shim, which takes an array of tensors and one of sizes.
std::string shim_text(const Task& task, const Shim& shim);

}  // namespace kernelsmith

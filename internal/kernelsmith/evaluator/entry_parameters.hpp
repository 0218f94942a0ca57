// The parameters of a task's C++ functions: how they are declared and called, and whether a definition takes
// its arguments in the order in which they are passed. The compiler does not compare their names: if two
// sizes are exchanged, the results are wrong and there is no message.
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

/// Groups of adjacent arguments that could be exchanged: the names of the tensors, and the names of the
/// sizes.
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

/// The same message for a source of the task: for the tensors and sizes of its entry, or of its generator.
std::string exchanged_parameters(const Task& task, const Source& source, bool generator = false);
/// Errors: refused, with the message of exchanged_parameters().
Status check_parameters(const Task& task, const TrustedSource& trusted);
/// The Error for a source that does not compile: refused, or the machine's. `wide` and `instead` are for a
/// source that is built in a wider type.
Error does_not_compile(const TrustedSource& trusted, const Failure& failure, const std::string& wide,
                       const std::string& instead);

/// The name of the function that generates inputs.
std::string generator_of(const Task& task);
/// Whether the entry reads the tensor.
bool has_input(const TensorSpec& tensor);
/// The sizes' names, in the order of the entry's parameters.
std::vector<std::string> size_names(const Task& task);
/// The items with ", " between them.
std::string listed(const std::vector<std::string>& items);
/// The type's name in C++; empty if C++ has no such type (f16, bf16, fp8).
std::string_view cpp_type(Dtype dtype);
/// The bytes of an element in a source that is built in this precision.
std::size_t element_bytes(Dtype dtype, OraclePrecision precision);
/// "const float* __restrict x" and the like, then the sizes.
std::vector<std::string> entry_parameters(const Task& task,
                                          const std::function<std::string_view(Dtype)>& type_of,
                                          const std::string& restrict);
std::string declaration(const std::string& function, const std::vector<std::string>& parameters);

/// A function that calls one of a task's functions.
struct Shim {
  std::string symbol, function;
  std::size_t tensors = 0;  ///< arguments in front of the sizes
  /// The parameters of the function after the sizes, and the arguments that it gets for them.
  std::vector<std::string> more_parameters = {}, more_arguments = {};
  std::string also_taken{};  ///< text after the shim's own parameters: ", void* stream"
};
/// The declaration of the function, and the shim. The shim takes an array of tensors and an array of sizes.
std::string shim_text(const Task& task, const Shim& shim);

}  // namespace kernelsmith

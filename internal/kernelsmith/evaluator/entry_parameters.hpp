// Checks that a kernel's definition has its parameters in the order in which arguments are passed. The
// compiler cannot check it: two exchanged sizes give wrong results without a message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// Names of adjacent arguments that could be exchanged: the tensors, the sizes.
using ParameterGroups = std::vector<std::vector<std::string>>;

/// A message if the definition of `function` in a C++ or CUDA source has the names of a group in another
/// order. Empty if it has other names or is not found.
std::string exchanged_parameters(const Source& source, std::string_view function, const ParameterGroups& due);

}  // namespace kernelsmith

// Whether a kernel's definition takes its arguments in the order in which they are passed. Names have no
// meaning for the compiler: two sizes that are exchanged give wrong results and no message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// Names of arguments that follow one another and could be exchanged: the tensors, the sizes.
using ParameterGroups = std::vector<std::vector<std::string>>;

/// What is wrong with the definition of `function` in a C++ or CUDA source, in words: it has the names of a
/// group in another order. Empty if it has other names, or is not found.
std::string exchanged_parameters(const Source& source, std::string_view function, const ParameterGroups& due);

}  // namespace kernelsmith

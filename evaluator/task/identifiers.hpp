// Checks names for generated C++.
#pragma once

#include <string_view>

namespace kernelsmith::task {

/// Returns true for a C++ identifier that is neither a keyword nor reserved for the implementation.
bool is_identifier(std::string_view name);

}  // namespace kernelsmith::task

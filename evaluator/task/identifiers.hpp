// Which names may stand in generated C++.
#pragma once

#include <string_view>

namespace kernelsmith::task {

/// True for a C++ identifier that is no keyword and not reserved to the implementation.
bool is_identifier(std::string_view name);

}  // namespace kernelsmith::task

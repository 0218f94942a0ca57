// Errors in as few lines as a terminal wants.
#pragma once

#include <string>

#include <kernelsmith/core/error.hpp>

namespace kernelsmith {

/// As describe(); of what compilers and frameworks say in many lines, the first one and the first that is an
/// error. JSON has them all.
std::string describe_briefly(const Error& error);

}  // namespace kernelsmith

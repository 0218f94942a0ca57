// Errors in as few lines as a terminal wants.
#pragma once

#include <string>

#include <kernelsmith/core/error.hpp>

namespace kernelsmith {

/// As describe(); of what compilers and frameworks say in many lines, the first one and the first that is an
/// error; of a Python traceback also where it left the user's own code. JSON has them all.
std::string describe_briefly(const Error& error);

}  // namespace kernelsmith

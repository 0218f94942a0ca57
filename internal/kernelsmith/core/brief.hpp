// Short error messages for terminals.
#pragma once

#include <string>

#include <kernelsmith/core/error.hpp>

namespace kernelsmith {

/// Like describe(), but shortens long messages of compilers and frameworks to the first line and the first
/// error. If the message is a Python traceback, it also keeps the last place in the user's code. JSON has the
/// full text.
std::string describe_briefly(const Error& error);

}  // namespace kernelsmith

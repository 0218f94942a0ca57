// A kernel's name as far as compilers and ncu spell it alike.
#pragma once

#include <string_view>

namespace kernelsmith::cuda {

/// "softmax_row" of "void ops::softmax_row<256>(float const*, int)".
inline std::string_view bare_name(std::string_view name) {
  name = name.substr(0, name.find_first_of("(<"));
  if (const auto space = name.find_last_of(" :"); space != name.npos) name.remove_prefix(space + 1);
  return name;
}

}  // namespace kernelsmith::cuda

// The part of a kernel's name that compilers and ncu spell alike.
#pragma once

#include <string_view>

namespace kernelsmith::cuda {

/// Such as "softmax_row" for "void ops::softmax_row<256>(float const*, int)". The unnamed namespace has two
/// spellings, both with a bracket.
inline std::string_view bare_name(std::string_view name) {
  for (const std::string_view unnamed :
       {std::string_view("(anonymous namespace)::"), std::string_view("<unnamed>::")})
    if (const auto found = name.find(unnamed); found != name.npos && found == name.find_first_of("(<"))
      name.remove_prefix(found + unnamed.size());
  name = name.substr(0, name.find_first_of("(<"));
  if (const auto space = name.find_last_of(" :"); space != name.npos) name.remove_prefix(space + 1);
  return name;
}

}  // namespace kernelsmith::cuda

// Numbers in canonical texts: the shortest form that reads back as the same double, the same on every
// machine.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace kernelsmith {

/// "0.1", "1e+300"; "inf" and "nan" too.
inline std::string number_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

}  // namespace kernelsmith

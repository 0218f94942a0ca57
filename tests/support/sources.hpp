// Sources for the tests of code and proposal.
#pragma once

#include <string>
#include <utility>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

inline Source one_file(std::string path, std::string text) {
  return Source::create({{std::move(path), std::move(text)}}).value();
}
inline Source cpp(std::string text) { return one_file("kernel.cpp", std::move(text)); }
inline Source python(std::string text) { return one_file("kernel.py", std::move(text)); }

}  // namespace kernelsmith

// Finds the libraries that Python loads, and the headers for building extensions.
#pragma once

#include <filesystem>

namespace kernelsmith::torch {

/// The files for building extensions; both empty if they are not installed.
struct ExtensionPlaces {
  std::filesystem::path include;  ///< the folder of the replacements of PyTorch's headers
  std::filesystem::path library;  ///< libkernelsmith_extension.so
};

/// `package` is the folder that contains kernelsmith_torch. $KERNELSMITH_EXTENSION_LIBRARY names another
/// library.
ExtensionPlaces find_extension_places(const std::filesystem::path& package);

/// libkernelsmith_judge.so, or what $KERNELSMITH_JUDGE_LIBRARY names; empty if it is not installed.
std::filesystem::path find_judge_library(const std::filesystem::path& package);

}  // namespace kernelsmith::torch

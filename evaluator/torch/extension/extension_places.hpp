// Where the headers and the library are that extensions are built with.
#pragma once

#include <filesystem>

namespace kernelsmith::torch {

/// Both empty if they are not installed.
struct ExtensionPlaces {
  std::filesystem::path include;  ///< the folder of the stand-ins of PyTorch's headers
  std::filesystem::path library;  ///< libkernelsmith_extension.so
};

/// `package` is the folder that holds kernelsmith_torch. $KERNELSMITH_EXTENSION_LIBRARY names another
/// library.
ExtensionPlaces find_extension_places(const std::filesystem::path& package);

}  // namespace kernelsmith::torch

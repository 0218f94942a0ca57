#include "extension/extension_places.hpp"

#include <cstdlib>
#include <system_error>
#include <vector>

namespace kernelsmith::torch {
namespace {

constexpr const char* kLibrary = "libkernelsmith_extension.so";

std::filesystem::path first_of(const std::vector<std::filesystem::path>& places) {
  for (const auto& place : places) {
    std::error_code error;
    auto found = std::filesystem::canonical(place, error);
    if (!error) return found;
  }
  return {};
}

}  // namespace

ExtensionPlaces find_extension_places(const std::filesystem::path& package) {
  const char* const named = std::getenv("KERNELSMITH_EXTENSION_LIBRARY");
  const auto prefix = package / "../../..";  // of an installation, or of a wheel
  ExtensionPlaces places;
  places.include = first_of(
      {package / "extension/include", package / "../extension/include", KERNELSMITH_SOURCE_EXTENSION});
  places.library = named ? first_of({named})
                         : first_of({prefix / "libexec/kernelsmith" / kLibrary, prefix / "bin" / kLibrary,
                                     KERNELSMITH_BUILT_EXTENSION});
  return places;
}

}  // namespace kernelsmith::torch

#include "extension/extension_places.hpp"

#include <cstdlib>
#include <system_error>
#include <vector>

namespace kernelsmith::torch {
namespace {

std::filesystem::path first_of(const std::vector<std::filesystem::path>& places) {
  for (const auto& place : places) {
    std::error_code error;
    auto found = std::filesystem::canonical(place, error);
    if (!error) return found;
  }
  return {};
}

/// A library of an installation, of a wheel, or of the build tree, unless the environment names another.
std::filesystem::path library_named(const char* variable, const std::filesystem::path& package,
                                    const char* name, const char* built) {
  if (const char* const named = std::getenv(variable)) return first_of({named});
  const auto prefix = package / "../../..";
  return first_of({prefix / "libexec/kernelsmith" / name, prefix / "bin" / name, built});
}

}  // namespace

ExtensionPlaces find_extension_places(const std::filesystem::path& package) {
  return {first_of({package / "extension/include", package / "../extension/include",
                    KERNELSMITH_SOURCE_EXTENSION}),
          library_named("KERNELSMITH_EXTENSION_LIBRARY", package, "libkernelsmith_extension.so",
                        KERNELSMITH_BUILT_EXTENSION)};
}

std::filesystem::path find_judge_library(const std::filesystem::path& package) {
  return library_named("KERNELSMITH_JUDGE_LIBRARY", package, "libkernelsmith_judge.so",
                       KERNELSMITH_BUILT_JUDGE);
}

}  // namespace kernelsmith::torch

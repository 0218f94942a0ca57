#include "runner/locate_runner.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

namespace kernelsmith::cpu {

namespace {

/// The folder of the program or shared library with this code; for the Python module its package.
std::filesystem::path own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&locate_runner), &found) == 0 || !found.dli_fname) return {};
  return std::filesystem::path(found.dli_fname).parent_path();
}

}  // namespace

Result<std::filesystem::path> locate_runner(const std::filesystem::path& given) {
  std::vector<std::filesystem::path> places;
  if (!given.empty()) {
    places.push_back(given);
  } else if (const char* const named = std::getenv("KERNELSMITH_RUNNER")) {
    places.emplace_back(named);
  } else {
    std::error_code error;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    places = {own_folder() / "bin/kernelsmith-runner", beside / "kernelsmith-runner",
              beside / "../libexec/kernelsmith/kernelsmith-runner", KERNELSMITH_INSTALLED_RUNNER,
              KERNELSMITH_BUILT_RUNNER};
  }
  std::string looked;
  for (const auto& place : places) {
    std::error_code error;
    const auto found = std::filesystem::canonical(place, error);
    if (!error && ::access(found.c_str(), X_OK) == 0) return found;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  return fail(ErrorCode::tool_missing, "the program kernelsmith-runner is not found", looked,
              "install kernelsmith, or set KERNELSMITH_RUNNER to its path");
}

}  // namespace kernelsmith::cpu

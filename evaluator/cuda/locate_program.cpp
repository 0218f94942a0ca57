#include "locate_program.hpp"

#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

namespace kernelsmith::cuda {
namespace {

/// The folder of the program or shared library with this code; for the Python module its package.
std::filesystem::path own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&locate_program), &found) == 0 || !found.dli_fname) return {};
  return std::filesystem::path(found.dli_fname).parent_path();
}

}  // namespace

Result<std::filesystem::path> locate_program(const std::string& name, const char* variable) {
  std::vector<std::filesystem::path> places;
  if (const char* const named = std::getenv(variable)) {
    places.emplace_back(named);
  } else {
    std::error_code error;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    places = {own_folder() / "bin" / name, beside / name, beside / "../libexec/kernelsmith" / name,
              std::filesystem::path(KERNELSMITH_INSTALLED_PROGRAMS) / name,
              std::filesystem::path(KERNELSMITH_BUILT_PROGRAMS) / name};
  }
  std::string looked;
  for (const auto& place : places) {
    std::error_code error;
    const auto found = std::filesystem::canonical(place, error);
    if (!error && ::access(found.c_str(), X_OK) == 0) return found;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  return fail(ErrorCode::tool_missing, "the program " + name + " is not found", looked,
              std::string("install kernelsmith, or set ") + variable + " to its path");
}

}  // namespace kernelsmith::cuda

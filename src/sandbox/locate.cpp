#include <cstdlib>
#include <system_error>

#include <dlfcn.h>
#include <unistd.h>

#include <kernelsmith/sandbox/locate.hpp>

namespace kernelsmith {

namespace fs = std::filesystem;

fs::path own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &found) == 0 || !found.dli_fname) return {};
  return fs::path(found.dli_fname).parent_path();
}

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

Result<fs::path> locate(const std::vector<fs::path>& places,
                        const std::function<bool(const fs::path&)>& usable, const std::string& what,
                        const std::string& hint) {
  std::string looked;
  for (const fs::path& place : places) {
    std::error_code error;
    const auto found = fs::canonical(place, error);
    if (!error && usable(found)) return found;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  return fail(ErrorCode::tool_missing, what + " is not found", looked, hint);
}

Result<fs::path> locate_program(const std::string& name, const char* variable, const fs::path& given) {
  std::vector<fs::path> places;
  if (const char* const named = std::getenv(variable); !given.empty() || named != nullptr)
    places.push_back(!given.empty() ? given : fs::path(named));
  else
    places = {own_folder() / "bin" / name, program_folder() / name,
              program_folder() / "../libexec/kernelsmith" / name,
              fs::path(KERNELSMITH_INSTALLED_PROGRAMS) / name, fs::path(KERNELSMITH_BUILT_PROGRAMS) / name};
  const auto runs = [](const fs::path& found) { return ::access(found.c_str(), X_OK) == 0; };
  return locate(places, runs, "the program " + name,
                std::string("install kernelsmith, or set ") + variable + " to its path");
}

}  // namespace kernelsmith

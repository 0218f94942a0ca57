#include <cstdlib>
#include <sstream>
#include <utility>

#include <unistd.h>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

namespace kernelsmith {

std::optional<std::string> find_tool(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + name; ::access(file.c_str(), X_OK) == 0) return file;
  return std::nullopt;
}

Result<SandboxResult> try_tool(std::vector<std::string> argv, const std::filesystem::path& scratch,
                               bool sandboxed) {
  SandboxSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  add_toolchain(spec);
  spec.read_write = {{scratch, scratch}};
  spec.working_directory = scratch;
  spec.confinement = sandboxed ? Confinement::sandboxed : Confinement::unsandboxed;
  return run_sandboxed(spec);
}

std::string fault_of(const Result<SandboxResult>& result) {
  if (!result) return describe(result.error());
  if (result->succeeded()) return "";
  const std::string said = escape_controls(result->err);
  return describe(*result) + ": " + said.substr(0, said.find('\n'));
}

}  // namespace kernelsmith

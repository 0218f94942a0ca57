// Finds the CUDA toolkit of this machine: its compiler, headers and version.
#include <cstdlib>
#include <system_error>
#include <vector>

#include <unistd.h>

#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr const char* kHowToGetIt =
    "install NVIDIA's CUDA toolkit 12 or 13 (https://developer.nvidia.com/cuda-downloads, or apt-get install "
    "cuda-nvcc-13-0 cuda-cudart-dev-13-0 from NVIDIA's repository) and set CUDA_HOME to its folder";

/// The headers must exist, because an nvcc elsewhere can be a script that calls the toolkit's.
bool is_toolkit(const std::filesystem::path& folder) {
  return !folder.empty() && ::access((folder / "bin/nvcc").c_str(), X_OK) == 0 &&
         ::access((folder / "include/cuda_runtime.h").c_str(), R_OK) == 0;
}

/// Default places of a toolkit, in order of preference.
std::vector<std::filesystem::path> usual_places() {
  std::vector<std::filesystem::path> places;
  if (const auto nvcc = find_tool("nvcc")) {
    std::error_code unresolved;
    const auto program = std::filesystem::canonical(*nvcc, unresolved);
    if (!unresolved) places.push_back(program.parent_path().parent_path());
  }
  places.emplace_back("/usr/local/cuda");
  return places;
}

/// "13.0.88" from "Cuda compilation tools, release 13.0, V13.0.88"; empty if it is missing.
std::string version_in(const std::string& text) {
  const std::size_t at = text.find(", V");
  if (at == text.npos) return {};
  const std::size_t begin = at + 3;
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

Result<Toolkit> toolkit_at(const std::filesystem::path& folder) {
  std::error_code unresolved;
  Toolkit toolkit;
  toolkit.root = std::filesystem::canonical(folder, unresolved);
  if (unresolved) return fail(ErrorCode::tool_missing, unresolved.message(), folder.string(), kHowToGetIt);
  toolkit.compiler = toolkit.root / "bin/nvcc";
  toolkit.include = toolkit.root / "include";
  auto scratch = ScratchFolder::create();
  if (!scratch) return scratch.error();
  const auto answer = try_tool({toolkit.compiler.string(), "--version"}, scratch->path(), false);
  if (const std::string fault = fault_of(answer); !fault.empty())
    return fail(ErrorCode::tool_failed, "nvcc does not run: " + fault, toolkit.compiler.string(),
                kHowToGetIt);
  toolkit.version = version_in(answer->out);
  if (toolkit.version.empty())
    return fail(ErrorCode::tool_failed, "nvcc does not print its version", toolkit.compiler.string(),
                kHowToGetIt);
  return toolkit;
}

}  // namespace

Result<Toolkit> find_toolkit(const std::filesystem::path& given) {
  const char* const home = std::getenv("CUDA_HOME");
  const bool from_home = given.empty() && home != nullptr && *home != '\0';
  const std::filesystem::path named = from_home ? home : given;
  if (!named.empty()) {
    if (is_toolkit(named)) return toolkit_at(named);
    return fail(ErrorCode::tool_missing,
                std::string("there is no CUDA toolkit (bin/nvcc and include/cuda_runtime.h)") +
                    (from_home ? " where CUDA_HOME says" : ""),
                named.string(), kHowToGetIt);
  }
  for (const auto& place : usual_places())
    if (is_toolkit(place)) return toolkit_at(place);
  return fail(
      ErrorCode::tool_missing,
      "there is no CUDA compiler: nvcc is not in $CUDA_HOME/bin, on the PATH or in /usr/local/cuda/bin", {},
      kHowToGetIt);
}

}  // namespace kernelsmith::cuda

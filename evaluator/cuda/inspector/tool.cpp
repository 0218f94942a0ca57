#include "inspector/tool.hpp"

#include <unistd.h>

#include <kernelsmith/sandbox/try_tool.hpp>

namespace kernelsmith::cuda {

std::optional<std::filesystem::path> find_cuda_tool(const std::string& name,
                                                    const std::filesystem::path& toolkit) {
  const auto own = toolkit / "bin" / name;
  if (::access(own.c_str(), X_OK) == 0) return own;
  return find_tool(name);
}

}  // namespace kernelsmith::cuda

// The machine's tools that observe a running kernel: compute-sanitizer and ncu.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelsmith::cuda {

/// A tool and its arguments. The program that the tool starts comes after them.
struct Tool {
  std::filesystem::path program;
  std::vector<std::string> arguments;
};

/// "compute-sanitizer" or "ncu" in the toolkit's bin, else on the PATH.
std::optional<std::filesystem::path> find_cuda_tool(const std::string& name,
                                                    const std::filesystem::path& toolkit);

}  // namespace kernelsmith::cuda

// The machine's own tools that look on while a kernel runs: compute-sanitizer and ncu.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelsmith::cuda {

/// A program and the arguments that come before the program that it starts.
struct Tool {
  std::filesystem::path program;
  std::vector<std::string> arguments;
};

/// "compute-sanitizer" or "ncu" in the toolkit's bin, else on the PATH.
std::optional<std::filesystem::path> find_cuda_tool(const std::string& name,
                                                    const std::filesystem::path& toolkit);

}  // namespace kernelsmith::cuda

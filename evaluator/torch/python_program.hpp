// Finds Python and our package for it, and starts the package's programs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "extension/extension_places.hpp"

namespace kernelsmith::torch {

/// A Python, and the folder with the package kernelsmith_torch. A value.
struct Python {
  std::filesystem::path program;               ///< the Python itself, not a script that chooses a Python
  std::vector<std::filesystem::path> folders;  ///< folders that it reads: its own and those of its packages
  std::filesystem::path package;               ///< goes on PYTHONPATH
  std::filesystem::path shared;                ///< folder of kernelsmith_process, on PYTHONPATH too
  ExtensionPlaces extensions{};
  std::filesystem::path judge{};  ///< the library of workers
};

/// `named` is a program or its path. If it is empty, $KERNELSMITH_TORCH_PYTHON is used, else python3 on the
/// PATH. The package is in $KERNELSMITH_TORCH_PYTHON_DIR, or in share/kernelsmith/torch of the installation,
/// or in the source tree that this was built from. Runs the Python once (30 ms). Errors: tool_missing.
Result<Python> find_python(const std::filesystem::path& named);

/// The hint of an error if a program does not start.
inline constexpr const char* kNeedsTorch =
    "it needs a Python with PyTorch and Triton: name one by evaluator.python or KERNELSMITH_TORCH_PYTHON "
    "(kernelsmith doctor says what it sees)";

/// A trusted program, `python3 -m MODULE ARGUMENTS`, with this process's own environment and rights.
SandboxSpec trusted_program(const Python& python, const std::string& module,
                            const std::vector<std::string>& arguments = {});

/// A program that runs candidates: it sees only the toolchain and the Python's folders, and no GPU.
SandboxSpec untrusted_program(const Python& python, const std::string& module, Confinement confinement);

}  // namespace kernelsmith::torch

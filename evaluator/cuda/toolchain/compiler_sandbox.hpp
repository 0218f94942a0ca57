// The sandbox of compilers, and a check of whether a compiler exceeded its limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/sandbox/run.hpp>

#include "toolchain/toolkit.hpp"

namespace kernelsmith::cuda {

/// The limit of each log, and of each file that is read back.
inline constexpr std::uint64_t kMaxLogBytes = 256ULL << 10;
inline constexpr std::uint64_t kMaxResultBytes = 64ULL << 20;

/// The scratch folder's path for the compilers.
std::filesystem::path build_folder(const std::filesystem::path& scratch, Confinement confinement);

/// The system's toolchain, the toolkit and the scratch folder. `cpu_s` applies to each compiler process.
SandboxSpec compiler_sandbox(const Toolkit& toolkit, std::vector<std::string> argv,
                             const std::filesystem::path& scratch, Confinement confinement, double cpu_s);

/// Whether the limits of time, memory or file size ended the compiler.
bool ran_out_of_limits(const SandboxResult& result);

}  // namespace kernelsmith::cuda

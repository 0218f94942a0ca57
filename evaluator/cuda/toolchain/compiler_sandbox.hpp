// The sandbox that candidates are compiled in, and whether a compiler ran out of what it has there.
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

/// Where the scratch folder is seen by the compilers.
std::filesystem::path build_folder(const std::filesystem::path& scratch, Confinement confinement);

/// The system's toolchain, the toolkit and the scratch folder. `cpu_s` holds for each compiler process.
SandboxSpec compiler_sandbox(const Toolkit& toolkit, std::vector<std::string> argv,
                             const std::filesystem::path& scratch, Confinement confinement, double cpu_s);

/// Whether the limits of time, memory or file size ended it.
bool ran_out_of_limits(const SandboxResult& result);

}  // namespace kernelsmith::cuda

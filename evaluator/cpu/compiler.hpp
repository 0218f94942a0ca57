// CpuCompiler: sources to shared objects, in the toolchain sandbox.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>
#include <kernelsmith/sandbox/files.hpp>
#include <kernelsmith/sandbox/run.hpp>

#include "judged.hpp"
#include "precompiled_headers.hpp"
#include "signature.hpp"

namespace kernelsmith {

/// A shared object on disk, for as long as this lives.
class CpuBinary final : public Binary {
 public:
  CpuBinary(ScratchFolder folder, Digest digest) : folder_(std::move(folder)), digest_(digest) {}
  std::filesystem::path object() const;
  /// Of the object's exact bytes.
  const Digest& digest() const { return digest_; }
  std::optional<Digest> exact_bytes() const override { return digest_; }

 private:
  ScratchFolder folder_;
  Digest digest_;
};
using CpuBinaryPtr = std::shared_ptr<const CpuBinary>;

/// What compiling left behind.
struct CompileOutput {
  CpuBinaryPtr binary;
  std::string log;  ///< control bytes escaped
};

/// Thread-safe.
class CpuCompiler {
 public:
  /// Finds the compiler, learns its version and how it links, and builds the shim. Errors: tool_missing,
  /// tool_failed.
  static Result<std::shared_ptr<const CpuCompiler>> create(const Task& task, const CpuOptions& options);

  /// Builds all C++ files of `source` (.cpp, .cc, .cxx) together with the shim.
  Judged<CompileOutput> compile(const Source& source, Precision precision, const std::stop_token& stop) const;

  /// An object that does nothing and needs every library that candidates may be linked with.
  Result<CpuBinaryPtr> link_all_libraries() const;

  /// Such as "g++ 12.2.0 -O3 -march=native -std=c++20".
  const std::string& description() const { return description_; }

 private:
  using Arguments = std::vector<std::string>;

  CpuCompiler() = default;
  SandboxSpec spec(Arguments argv, const std::filesystem::path& scratch) const;
  /// Runs the compiler's driver.
  Result<SandboxResult> run_driver(Arguments arguments, const ScratchFolder& scratch,
                                   std::stop_token stop = {}) const;
  Arguments link_arguments(const Arguments& compiling, const Arguments& inputs) const;
  Status build_shim();
  Status learn_to_link();
  bool precompile(const ScratchFolder& folder, const std::string& header, const std::string& target) const;
  /// Compiles one file with its headers precompiled, and calls the linker without the driver.
  Result<SandboxResult> build_quickly(const Arguments& compiling, const std::string& file,
                                      const std::optional<std::filesystem::path>& header,
                                      const ScratchFolder& scratch, const std::stop_token& stop) const;
  Judged<CompileOutput> keep(const ScratchFolder& scratch, std::string log) const;

  std::filesystem::path compiler_;
  Arguments flags_;
  std::optional<Arguments> link_command_;  ///< the linker's, for kernel.o and the shim; empty: use the driver
  Task task_;
  Confinement confinement_ = Confinement::sandboxed;
  double timeout_s_ = 0;  ///< of CPU time, of one compilation
  std::string description_;
  std::unique_ptr<ScratchFolder> headers_;  ///< task.hpp, the task's further files, and shim.o
  std::unique_ptr<PrecompiledHeaders> precompiled_;
};

}  // namespace kernelsmith

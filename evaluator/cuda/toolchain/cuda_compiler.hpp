// CudaCompiler: compiles sources to a device image and a host library in the toolchain sandbox.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/build_cache.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>
#include <kernelsmith/evaluator/oracle.hpp>
#include <kernelsmith/evaluator/verdict.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "toolchain/image_facts.hpp"
#include "toolchain/toolkit.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// A compiled candidate, or one of the task's own kernels. Immutable; shared.
class CudaBinary final : public Binary {
 public:
  /// Writes the host library to its own folder. Errors: those of a ScratchFolder.
  static Result<std::shared_ptr<const CudaBinary>> create(std::vector<std::byte> image, ImageFacts facts,
                                                          const std::string& host_library);

  const std::vector<std::byte>& image() const { return image_; }
  const ImageFacts& facts() const { return facts_; }
  /// A shared object without the vendor's runtime: the planner defines the runtime's symbols.
  std::filesystem::path host_library() const;
  /// The digest of the image and the host library.
  std::optional<Digest> exact_bytes() const override { return digest_; }
  const Digest& digest() const { return digest_; }

 private:
  CudaBinary() = default;
  std::vector<std::byte> image_;
  ImageFacts facts_;
  std::unique_ptr<ScratchFolder> folder_;
  Digest digest_;
};
using CudaBinaryPtr = std::shared_ptr<const CudaBinary>;

struct CudaCompileOutput {
  CudaBinaryPtr binary;
  std::string log;  ///< warnings; control bytes escaped
};

struct CompilerOptions {
  const GpuVendor* vendor = nullptr;     ///< the compiler's vendor
  std::filesystem::path toolkit = {};    ///< empty: the vendor's default places
  std::optional<std::string> arch = {};  ///< target architecture; empty: the vendor's default
  std::optional<std::vector<std::string>> flags =
      {};  ///< Task::flags follow them; empty: the vendor's defaults
  bool unsandboxed = false;
  double timeout_s = 120;  ///< CPU time of each compiler process
};

/// Thread-safe.
class CudaCompiler {
 public:
  /// Errors: tool_missing, tool_failed, cancelled.
  static Result<std::shared_ptr<const CudaCompiler>> create(const Task& task, const CompilerOptions& options,
                                                            const std::stop_token& stop = {});

  /// Builds a candidate's .cu and .cpp files (usually one .cu file; several are included in one translation
  /// unit). Device and host halves are built in parallel. A Rejection is compile_failed, compile_limit or
  /// entry_missing, with the useful part of the compiler's message.
  Judged<CudaCompileOutput> compile(const Source& source, const std::stop_token& stop) const;

  /// Builds a trusted source in a given precision, or takes its binary from the cache on disk if it was built
  /// before with the same toolkit, flags, task and arch. Errors: refused if it does not compile.
  Result<CudaBinaryPtr> build(const TrustedSource& trusted, const std::stop_token& stop = {}) const;

  /// The image of our own kernels, after the vendor's prologue, from the cache on disk if it was built
  /// before. Errors: tool_failed.
  Result<std::vector<std::byte>> build_kernels(const std::string& kernels,
                                               const std::stop_token& stop = {}) const;

  /// Such as "nvcc 13.0.88 -arch=sm_90a -O3 -std=c++17".
  const std::string& description() const { return description_; }
  const Toolkit& toolkit() const { return toolkit_; }

 private:
  CudaCompiler(Task task, CompilerOptions options, Toolkit toolkit);
  Status prepare(const std::stop_token& stop);
  Status learn_steps(std::vector<std::string> command, const std::stop_token& stop);
  Status build_shim(const std::stop_token& stop);
  SandboxSpec spec(std::vector<std::string> argv, const std::filesystem::path& scratch) const;
  Confinement confinement() const;
  BuildSteps steps() const { return {toolkit_, arch_, flags_}; }
  Status write_inputs(const ScratchFolder& scratch, const Source& source, OraclePrecision precision) const;
  Judged<CudaCompileOutput> build_in(const Source& source, OraclePrecision precision,
                                     const std::stop_token& stop) const;
  Judged<CudaCompileOutput> collect(const ScratchFolder& scratch, const std::string& log) const;
  Failure why_it_failed(const SandboxResult& result) const;
  std::string wanted_signature() const;

  Task task_;
  CompilerOptions options_;
  const GpuVendor& vendor_;
  const Toolchain& tools_;
  std::string arch_;
  std::vector<std::string> flags_;  ///< including the task's
  Toolkit toolkit_;
  BuildCache cache_;
  std::string description_;
  Digest tools_stamp_;  ///< digest of compiler and flags
  Digest stamp_;        ///< digest of all that a binary depends on besides its source
  std::string shim_;    ///< the generated call, compiled once
  std::string script_;  ///< builds the files in a scratch folder (build_script.hpp)
};

}  // namespace kernelsmith::cuda

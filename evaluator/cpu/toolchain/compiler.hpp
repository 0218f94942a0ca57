// CpuCompiler: compiles sources to shared objects in the toolchain sandbox.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/build_cache.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>
#include <kernelsmith/evaluator/oracle.hpp>
#include <kernelsmith/evaluator/verdict.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "toolchain/precompiled_headers.hpp"

namespace kernelsmith::cpu {

/// A shared object on disk, which exists for the lifetime of this C++ object.
class CpuBinary final : public Binary {
 public:
  /// Errors: those of a ScratchFolder.
  static Result<std::shared_ptr<const CpuBinary>> create(const std::string& object);
  std::filesystem::path object() const;
  std::optional<Digest> exact_bytes() const override { return digest_; }

 private:
  CpuBinary(ScratchFolder folder, Digest digest) : folder_(std::move(folder)), digest_(digest) {}
  ScratchFolder folder_;
  Digest digest_;
};
using CpuBinaryPtr = std::shared_ptr<const CpuBinary>;

/// The result of compiling.
struct CompileOutput {
  CpuBinaryPtr binary;
  std::string log;  ///< control bytes escaped
};

/// Thread-safe.
class CpuCompiler {
 public:
  /// Finds the compiler and its version, unless `options.stop` is requested. Errors: tool_missing,
  /// tool_failed, cancelled.
  static Result<std::shared_ptr<const CpuCompiler>> create(const Task& task, const CpuOptions& options);

  /// Builds all C++ files of a candidate (.cpp, .cc, .cxx) together with the shim.
  Judged<CompileOutput> compile(const Source& source, const std::stop_token& stop) const;

  /// Builds a trusted source, or takes its object from the cache on disk. Errors: refused if it does not
  /// compile.
  Result<CpuBinaryPtr> build(const TrustedSource& trusted, const std::stop_token& stop = {}) const;

  /// An empty object that needs every library that candidates may link with.
  Result<CpuBinaryPtr> link_all_libraries(const std::stop_token& stop = {}) const;

  /// Such as "g++ 12.2.0 -O3 -march=native -std=c++20".
  const std::string& description() const { return description_; }

 private:
  using Arguments = std::vector<std::string>;

  /// Options of a build.
  struct Manner {
    OraclePrecision precision = OraclePrecision::declared;
    bool generator = false;
    bool precompiled = false;  ///< with precompiled headers, if other sources used the same ones
  };

  CpuCompiler() : cache_(BuildCache::of_environment()) {}
  SandboxSpec spec(Arguments argv, const std::filesystem::path& scratch) const;
  /// Runs the compiler's driver.
  Result<SandboxResult> run_driver(Arguments arguments, const ScratchFolder& scratch,
                                   std::stop_token stop = {}) const;
  Status write_headers(const Task& task);
  Status learn_version(const std::stop_token& stop);
  Result<std::string> ask_version(const std::stop_token& stop) const;
  Status build_shim(const std::string& name, const std::string& source, const std::stop_token& stop) const;
  std::optional<Arguments> learn_to_link(const std::stop_token& stop) const;
  Arguments link_arguments(const Arguments& compiling, const Arguments& inputs, bool generator) const;
  bool precompile(const ScratchFolder& folder, const std::string& header, const std::string& target) const;
  Judged<CompileOutput> compile(const Source& source, const Manner& manner,
                                const std::stop_token& stop) const;
  Result<SandboxResult> build_quickly(const Arguments& compiling, const std::string& file,
                                      const std::optional<std::filesystem::path>& header,
                                      const ScratchFolder& scratch, const std::stop_token& stop) const;
  Judged<CompileOutput> keep(const ScratchFolder& scratch, std::string log) const;

  std::filesystem::path compiler_;
  Arguments flags_;
  Task task_;
  Confinement confinement_ = Confinement::sandboxed;
  double timeout_s_ = 0;  ///< CPU time of one compilation
  std::string description_;
  BuildCache cache_;
  Digest stamp_;                            ///< digest of all that objects depend on besides their source
  std::unique_ptr<ScratchFolder> headers_;  ///< task.hpp, the task's further files, and the shims
  std::unique_ptr<PrecompiledHeaders> precompiled_;
  /// The linker's command line for kernel.o and the shim; without one the driver links. A background thread
  /// finds it, using the members above.
  std::shared_future<std::optional<Arguments>> link_command_;
};

}  // namespace kernelsmith::cpu

// LibraryCompiler: C++ and CUDA sources to one shared library and the device's code beside it, in the
// compiler's sandbox. For backends whose candidates bring CUDA C++ as a part of something else.
#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith {

/// What is built. A value.
struct LibraryJob {
  int arch = 90;  ///< of the GPU: ten times major plus minor
  /// Those that end in .cu or .cpp are compiled, each by itself; others lie beside them, for #include "...".
  std::vector<SourceFile> files;
  std::vector<std::string> flags;              ///< of both compilers: -std=c++17, -DNAME
  std::vector<std::string> device_flags;       ///< of nvcc alone: --use_fast_math
  std::vector<std::filesystem::path> include;  ///< folders of this machine that the compilers see

  /// A digest of all of it, but not of what is in the folders.
  Digest digest() const;
};

/// What a library's sources were compiled to.
struct BuiltLibrary {
  std::string host;                 ///< the shared library; it holds no device code
  std::vector<std::string> device;  ///< a cubin of each .cu file, in their order

  std::size_t bytes() const;
};

/// How a LibraryCompiler builds.
struct LibraryOptions {
  std::filesystem::path include;  ///< comes before all other folders of headers
  std::filesystem::path runtime;  ///< the library that defines what the sources leave undefined
  bool unsandboxed = false;
  double timeout_s = 120;  ///< of CPU time, of each compiler process
};

/// Thread-safe.
class LibraryCompiler {
 public:
  /// Looks for nvcc at $CUDA_HOME, the PATH and the usual places. Errors: tool_missing, tool_failed.
  static Result<std::shared_ptr<LibraryCompiler>> create(LibraryOptions options);
  ~LibraryCompiler();

  /// All files at once, and device and host halves of each .cu file side by side. A Rejection is
  /// compile_failed (an undefined name among its reasons) or compile_limit, with the compiler's message
  /// shortened to what helps.
  Judged<BuiltLibrary> build(const LibraryJob& job, const std::stop_token& stop);

  /// "nvcc 13.0.88"
  std::string description() const;

 private:
  struct Parts;
  explicit LibraryCompiler(std::unique_ptr<Parts> parts);
  Judged<std::string> script_for(const LibraryJob& job, const std::stop_token& stop);

  const std::unique_ptr<Parts> parts_;
  Mutex mutex_;
  /// The script of a .cu file, by the nvcc command.
  std::map<std::string, std::string> scripts_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith

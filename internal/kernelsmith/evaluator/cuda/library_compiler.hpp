// LibraryCompiler: compiles C++ and CUDA sources to a shared library and separate device code, in the
// compiler's sandbox. For backends whose candidates contain CUDA C++ as a part.
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

/// The sources to build. A value.
struct LibraryJob {
  int arch = 90;  ///< the GPU's architecture: 10 * major + minor version
  /// Files that end in .cu or .cpp are compiled separately; the others are for #include "...".
  std::vector<SourceFile> files;
  std::vector<std::string> flags;              ///< flags of both compilers: -std=c++17, -DNAME
  std::vector<std::string> device_flags;       ///< flags of nvcc only: --use_fast_math
  std::vector<std::filesystem::path> include;  ///< folders of this machine that the compilers can read

  /// A digest of all members, but not of the folders' contents.
  Digest digest() const;
};

/// The result of compiling a library.
struct BuiltLibrary {
  std::string host;                 ///< the shared library; it contains no device code
  std::vector<std::string> device;  ///< a cubin for each .cu file, in order

  std::size_t bytes() const;
};

/// Options of a LibraryCompiler.
struct LibraryOptions {
  std::filesystem::path include;  ///< searched before all other folders of headers
  std::filesystem::path runtime;  ///< the library that defines the sources' undefined symbols
  bool unsandboxed = false;
  double timeout_s = 120;  ///< limit of CPU time for each compiler process
};

/// Thread-safe.
class LibraryCompiler {
 public:
  /// Looks for nvcc in $CUDA_HOME, on the PATH and in the usual places. Errors: tool_missing, tool_failed.
  static Result<std::shared_ptr<LibraryCompiler>> create(LibraryOptions options);
  ~LibraryCompiler();

  /// Compiles all files in parallel, and also the device half and the host half of each .cu file. A Rejection
  /// is compile_failed (also for an undefined name) or compile_limit, with the useful part of the compiler's
  /// message.
  Judged<BuiltLibrary> build(const LibraryJob& job, const std::stop_token& stop);

  /// The compiler's name and version, such as "nvcc 13.0.88".
  std::string description() const;

 private:
  struct Parts;
  explicit LibraryCompiler(std::unique_ptr<Parts> parts);
  Judged<std::string> script_for(const LibraryJob& job, const std::stop_token& stop);

  const std::unique_ptr<Parts> parts_;
  Mutex mutex_;
  /// The build scripts of .cu files, with the nvcc command.
  std::map<std::string, std::string> scripts_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith

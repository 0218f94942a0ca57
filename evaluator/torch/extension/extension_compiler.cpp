#include "extension/extension_compiler.hpp"

#include <utility>

#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith::torch {
namespace {

/// Makes the compiler at the first request, and retries until that succeeds. Thread-safe.
class LateCompiler {
 public:
  LateCompiler(ExtensionPlaces places, bool unsandboxed)
      : places_(std::move(places)), unsandboxed_(unsandboxed) {}

  Result<std::shared_ptr<LibraryCompiler>> get() {
    const MutexLock lock(mutex_);
    if (!compiler_) {
      auto found = make_library_compiler(places_, unsandboxed_);
      if (!found) return found.error();
      compiler_ = std::move(*found);
    }
    return compiler_;
  }

 private:
  const ExtensionPlaces places_;
  const bool unsandboxed_;
  Mutex mutex_;
  std::shared_ptr<LibraryCompiler> compiler_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<LibraryCompiler>> make_library_compiler(const ExtensionPlaces& places,
                                                               bool unsandboxed) {
  if (places.include.empty() || places.library.empty())
    return fail(ErrorCode::tool_missing, "the files for building C++ extensions are not installed",
                "libkernelsmith_extension.so",
                "install kernelsmith, or set KERNELSMITH_EXTENSION_LIBRARY to its path");
  return LibraryCompiler::create({places.include, places.library, unsandboxed});
}

std::shared_ptr<BuildService> make_build_service(const ExtensionPlaces& places, bool unsandboxed) {
  const auto late = std::make_shared<LateCompiler>(places, unsandboxed);
  return std::make_shared<BuildService>(
      [late](const LibraryJob& job, const std::stop_token& stop) -> Judged<BuiltLibrary> {
        const auto compiler = late->get();
        if (!compiler) return Failure(compiler.error());
        return (*compiler)->build(job, stop);
      });
}

}  // namespace kernelsmith::torch

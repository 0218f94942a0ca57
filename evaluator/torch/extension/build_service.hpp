// BuildService: builds candidates' extensions, each once for all requests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/evaluator/cuda/library_compiler.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith::torch {

/// An extension, or why it cannot be built. Immutable.
struct BuiltExtension {
  BuiltLibrary library;
  std::string error;  ///< the compilers' messages; empty if it was built
};
using BuiltExtensionPtr = std::shared_ptr<const BuiltExtension>;

/// Keeps builds for the life of this process; candidates are not written to the cache on disk. Thread-safe.
class BuildService {
 public:
  using Compile = std::function<Judged<BuiltLibrary>(const LibraryJob&, const std::stop_token&)>;

  /// Keeps the newest builds, up to `most_bytes` in all: some thousand extensions.
  explicit BuildService(Compile compile, std::size_t most_bytes = std::size_t{256} << 20)
      : compile_(std::move(compile)), most_bytes_(most_bytes) {}

  /// Waits if another thread builds the same extension. Errors are the machine's.
  Result<BuiltExtensionPtr> build(const LibraryJob& job, const std::stop_token& stop);

 private:
  struct Kept {
    BuiltExtensionPtr built;
    std::uint64_t used = 0;
  };

  void keep(const Digest& key, BuiltExtensionPtr built) KERNELSMITH_REQUIRES(mutex_);

  const Compile compile_;
  const std::size_t most_bytes_;
  Mutex mutex_;
  StoppableCondition changed_;
  std::set<Digest> building_ KERNELSMITH_GUARDED_BY(mutex_);
  std::map<Digest, Kept> kept_ KERNELSMITH_GUARDED_BY(mutex_);
  std::size_t bytes_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  std::uint64_t uses_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelsmith::torch

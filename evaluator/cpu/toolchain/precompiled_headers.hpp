// PrecompiledHeaders: sets of standard headers, compiled once for all candidates that begin with them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

namespace kernelsmith::cpu {

/// Contains only standard headers in an order of its own, so that no candidate influences what another one
/// reads; compilers see the folders read-only. It belongs to one version of the compiler with its flags, and
/// the compiler itself refuses files of other versions or flags. Thread-safe.
class PrecompiledHeaders {
 public:
  /// Precompiles the header `source` to `target`, both relative to the folder. False if it fails.
  using Build =
      std::function<bool(const ScratchFolder& folder, const std::string& source, const std::string& target)>;

  explicit PrecompiledHeaders(Build build) : build_(std::move(build)) {}

  /// A header that includes exactly `headers`, with its precompiled form next to it, valid for the lifetime
  /// of this object. If linking then fails for missing standard functions, build without the header. Empty
  /// for the first source with these headers, because precompiling takes longer than it saves; if there are
  /// no headers; if the header cannot be built; and for sets beyond the first few. The second source with
  /// these headers builds the header while others wait.
  std::optional<std::filesystem::path> find(const std::vector<std::string>& headers) const;

  static constexpr const char* kName = "usual.hpp";

 private:
  /// The most precompiled sets; each takes tens of megabytes on disk.
  static constexpr std::size_t kMostBuilt = 8;
  /// The most sets whose first request is remembered.
  static constexpr std::size_t kMostSets = 256;
  using Folder = std::shared_ptr<const ScratchFolder>;

  Folder make(const std::vector<std::string>& headers) const;

  Build build_;
  mutable Mutex mutex_;
  /// The requested sets; not valid after only one request.
  mutable std::map<std::vector<std::string>, std::shared_future<Folder>> sets_ KERNELSMITH_GUARDED_BY(mutex_);
  mutable std::size_t built_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelsmith::cpu

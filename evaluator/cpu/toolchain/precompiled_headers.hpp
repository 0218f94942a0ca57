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

/// The headers are only standard ones, in an order that no candidate chooses, so that no candidate influences
/// what another one reads. Compilers see the folders read-only. The object belongs to one version of the
/// compiler with its flags; the compiler itself refuses files of other versions or flags. Thread-safe.
class PrecompiledHeaders {
 public:
  /// Precompiles the header `source` to `target`, both relative to the folder. False if it fails.
  using Build =
      std::function<bool(const ScratchFolder& folder, const std::string& source, const std::string& target)>;

  explicit PrecompiledHeaders(Build build) : build_(std::move(build)) {}

  /// A header that includes exactly `headers`, with its precompiled form next to it, valid for the lifetime
  /// of this object. If linking then fails for missing standard functions, build without the header. Empty if
  /// there are no headers, if the header cannot be built, and for sets beyond the first few. Also empty for
  /// the first source with these headers, because precompiling takes longer than it saves. The second source
  /// builds the header while others wait.
  std::optional<std::filesystem::path> find(const std::vector<std::string>& headers) const;

  static constexpr const char* kName = "usual.hpp";

 private:
  /// The largest number of precompiled sets; each takes tens of megabytes on disk.
  static constexpr std::size_t kMostBuilt = 8;
  /// The largest number of sets whose first request is remembered.
  static constexpr std::size_t kMostSets = 256;
  using Folder = std::shared_ptr<const ScratchFolder>;

  Folder make(const std::vector<std::string>& headers) const;

  Build build_;
  mutable Mutex mutex_;
  /// The requested sets; the future of a set is not valid after only one request.
  mutable std::map<std::vector<std::string>, std::shared_future<Folder>> sets_ KERNELSMITH_GUARDED_BY(mutex_);
  mutable std::size_t built_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelsmith::cpu

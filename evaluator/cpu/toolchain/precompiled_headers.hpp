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

/// Holds nothing but standard headers in an order of its own, so that no candidate has a say in what another
/// one reads; folders are shown to compilers read-only. Lives as long as a compiler with its version and
/// flags, and the compiler itself refuses what another version or other flags made. Thread-safe.
class PrecompiledHeaders {
 public:
  /// Precompiles the header `source` to `target`, both relative to the folder. False if it fails.
  using Build =
      std::function<bool(const ScratchFolder& folder, const std::string& source, const std::string& target)>;

  explicit PrecompiledHeaders(Build build) : build_(std::move(build)) {}

  /// A header that includes exactly these, with its precompiled form beside it; it lives as long as this.
  /// What includes it may lack standard functions when it is linked, and is to be built without it then.
  /// Empty for the first source that asks for a set, which takes longer to precompile than it saves; for the
  /// empty set; if it cannot be built; and for sets beyond the first few. The second source builds it,
  /// while others wait.
  std::optional<std::filesystem::path> find(const std::vector<std::string>& headers) const;

  static constexpr const char* kName = "usual.hpp";

 private:
  /// Each takes tens of megabytes on disk.
  static constexpr std::size_t kMostBuilt = 8;
  /// The most sets for which it is remembered that a source asked for them.
  static constexpr std::size_t kMostSets = 256;
  using Folder = std::shared_ptr<const ScratchFolder>;

  Folder make(const std::vector<std::string>& headers) const;

  Build build_;
  mutable Mutex mutex_;
  /// Those that were asked for; not valid if only one source did.
  mutable std::map<std::vector<std::string>, std::shared_future<Folder>> sets_ KERNELSMITH_GUARDED_BY(mutex_);
  mutable std::size_t built_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelsmith::cpu

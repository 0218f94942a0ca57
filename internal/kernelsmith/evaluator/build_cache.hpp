// BuildCache: a cache on disk for objects that were built from trusted sources. It is not used for
// candidates, because the judge must see that their compilation succeeds and is reproducible.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/digest.hpp>

namespace kernelsmith {

/// Several processes may share a folder. A folder is not used if it cannot be written, belongs to somebody
/// else or can be written by others. Then nothing is found or stored. Thread-safe.
class BuildCache {
 public:
  /// The size limit: some thousand objects. When a cache is opened, the oldest objects are removed to meet
  /// the limit.
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{512} << 20;

  /// Opens the cache in the folder "build" of $KERNELSMITH_CACHE ("off" for no cache), else of
  /// $XDG_CACHE_HOME/kernelsmith, else of ~/.cache/kernelsmith.
  static BuildCache of_environment();

  /// An empty `folder` disables the cache.
  explicit BuildCache(std::filesystem::path folder, std::uintmax_t most_bytes = kMostBytes);

  /// The text stored under the key. A damaged file counts as missing.
  std::optional<std::string> find(const Digest& key) const;

  /// A failure to write is not reported: the text is built again the next time.
  void keep(const Digest& key, std::string_view bytes) const;

 private:
  std::filesystem::path folder_;  ///< empty if the cache is not used
};

}  // namespace kernelsmith

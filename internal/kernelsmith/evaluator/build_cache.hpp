// BuildCache: objects that were built from trusted sources, on disk, from one process to the next. Candidates
// are neither read from it nor written to it: their compilation must be seen to succeed, and to repeat.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/digest.hpp>

namespace kernelsmith {

/// Several processes may share a folder. A folder that cannot be written, belongs to somebody else or can be
/// written by others is not used: nothing is found then and nothing kept. Thread-safe.
class BuildCache {
 public:
  /// More than this is removed when a cache is opened, the oldest first: some thousand objects.
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{512} << 20;

  /// At the place that the environment names: $KERNELSMITH_CACHE ("off" for none), else
  /// $XDG_CACHE_HOME/kernelsmith, else ~/.cache/kernelsmith; a folder "build" in it.
  static BuildCache of_environment();

  /// Uses none if `folder` is empty.
  explicit BuildCache(std::filesystem::path folder, std::uintmax_t most_bytes = kMostBytes);

  /// What was kept under the key. A damaged file counts as missing.
  std::optional<std::string> find(const Digest& key) const;

  /// A failure to write is not reported: the text is built again the next time.
  void keep(const Digest& key, std::string_view bytes) const;

 private:
  std::filesystem::path folder_;  ///< empty: not used
};

}  // namespace kernelsmith

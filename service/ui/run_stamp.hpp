// RunStamp: whether a run folder may hold more than when it was looked at last, without opening its database.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace kernelsmith::ui {

/// The files that change when a run goes on, and whether a process writes it.
class RunStamp {
 public:
  /// `before` is the last one of the same folder, or null. Whether the run is in use is asked only if the
  /// answer may have changed: asking holds the run's lock for an instant, for which a writer that begins
  /// waits.
  static RunStamp of(const std::filesystem::path& folder, const RunStamp* before);

  /// False if nothing can have been written between this look and the later one.
  bool may_differ(const RunStamp& later) const;

 private:
  struct File {
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t changed_ns = 0;
    friend bool operator==(const File&, const File&) = default;
  };
  static constexpr std::array kFiles{"run.db", "run.db-wal", "run.yaml", "arrived"};

  static std::optional<File> file_at(const std::filesystem::path& path);

  std::array<std::optional<File>, kFiles.size()> files_;
  bool in_use_ = false;
  bool settled_ = false;  ///< the last change is longer ago than the grain of the files' times
};

}  // namespace kernelsmith::ui

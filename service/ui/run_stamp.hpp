// RunStamp: detects without opening the database whether a run folder may have changed.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace kernelsmith::ui {

/// The state of the files that change during a run, and whether a process writes it.
class RunStamp {
 public:
  /// `before` is the previous stamp of the same folder, or null. Whether a process uses the run is checked
  /// only if that may have changed, because the check takes the run's lock for an instant and could delay a
  /// writer.
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
  bool settled_ = false;  ///< the last change is older than the resolution of file times
};

}  // namespace kernelsmith::ui

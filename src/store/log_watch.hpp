// LogWatch: reports the process because of which run.db-wal cannot be written back and grows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace kernelsmith::detail {

/// SQLite writes its log back into the database unless a reader has an older transaction open.
class LogWatch {
 public:
  /// `log` need not exist yet.
  LogWatch(std::filesystem::path database, std::filesystem::path log);

  void tell_to(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

  /// Called after a commit. Reports once.
  void look();

 private:
  std::filesystem::path database_, log_;
  std::uintmax_t
      /// The log's size at first. A log is not truncated when it is written back, so a killed process may
      /// leave a long one.
      size_at_first_;
  std::function<void(const std::string&)> tell_;
};

}  // namespace kernelsmith::detail

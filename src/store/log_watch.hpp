// LogWatch: says who keeps run.db-wal from being written back, so that it grows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace kernelsmith::detail {

/// SQLite writes its log back into the database as long as nobody reads in a transaction that began before.
class LogWatch {
 public:
  /// `log` as it is now; it need not be there yet.
  LogWatch(std::filesystem::path database, std::filesystem::path log);

  void tell_to(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

  /// After a commit. Tells once.
  void look();

 private:
  std::filesystem::path database_, log_;
  std::uintmax_t
      size_at_first_;  ///< a log is not cut when it was written back: what was killed may leave a long one
  std::function<void(const std::string&)> tell_;
};

}  // namespace kernelsmith::detail

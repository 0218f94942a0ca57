// Failures that would end many tasks at once.
#pragma once

#include <optional>
#include <string>

#include <kernelsmith/core/error.hpp>

namespace kernelsmith::suite {

/// Counts consecutive tasks that ended because of a server, a full disk or a missing GPU, because the same
/// cause would end the next task too.
class Outage {
 public:
  /// `what` is the word for tasks in the error, such as "searches".
  explicit Outage(std::string what) : what_(std::move(what)) {}

  /// The error that ends the whole suite, if any.
  std::optional<Error> after(const std::optional<Error>& ended_by) {
    in_a_row_ = ended_by && meets_every_task(ended_by->code) ? in_a_row_ + 1 : 0;
    if (in_a_row_ < kMostInARow) return std::nullopt;
    Error error = *ended_by;
    error.message =
        std::to_string(in_a_row_) + " " + what_ + " in a row ended with an error: " + error.message;
    return error;
  }

 private:
  static constexpr int kMostInARow = 3;  ///< a single failure can be bad luck, and each costs its retries

  static bool meets_every_task(ErrorCode code) {
    return code == ErrorCode::network || code == ErrorCode::untrusted || code == ErrorCode::permission ||
           code == ErrorCode::rate_limited || code == ErrorCode::server_failed ||
           code == ErrorCode::disk_full || code == ErrorCode::unsupported;
  }

  std::string what_;
  int in_a_row_ = 0;
};

}  // namespace kernelsmith::suite

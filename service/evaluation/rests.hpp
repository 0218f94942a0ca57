// Rests: the tasks that are not tried now, because the machine failed at their last evaluation.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <kernelsmith/core/digest.hpp>

namespace kernelsmith::service {

/// A task whose evaluation the machine failed at rests, longer from failure to failure, until one succeeds.
/// Not thread-safe.
class Rests {
 public:
  using Clock = std::chrono::steady_clock;

  struct Rest {
    std::string why;
    std::chrono::milliseconds length{};
    Clock::time_point until;
  };

  explicit Rests(std::chrono::milliseconds first) : first_(first) {}

  /// Gives the rest that the task has now. Failures of evaluations that were under way together make one.
  const Rest& failed(const Digest& task, std::string why);
  void succeeded(const Digest& task) { rests_.erase(task); }

  /// Null: the task may be tried.
  const Rest* of(const Digest& task) const;

  /// What ended long ago.
  void forget_old();

 private:
  const std::chrono::milliseconds first_;
  std::map<Digest, Rest> rests_;
};

}  // namespace kernelsmith::service

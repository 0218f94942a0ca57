// Alarm: calls functions at their times, on one thread of its own.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith::service {

/// What is called is short and does not throw. What is still to come when the alarm goes is dropped.
/// Thread-safe.
class Alarm {
 public:
  using Clock = std::chrono::steady_clock;

  Alarm();
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void at(Clock::time_point when, std::function<void()> call);
  void after(std::chrono::duration<double> wait, std::function<void()> call) {
    at(Clock::now() + std::chrono::duration_cast<Clock::duration>(wait), std::move(call));
  }

 private:
  void serve(const std::stop_token& stop);

  Mutex mutex_;
  StoppableCondition changed_;
  std::multimap<Clock::time_point, std::function<void()>> calls_ KERNELSMITH_GUARDED_BY(mutex_);
  std::jthread thread_;  ///< last: it uses all the others
};

}  // namespace kernelsmith::service

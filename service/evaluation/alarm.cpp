#include "alarm.hpp"

#include <utility>

namespace kernelsmith::service {

Alarm::Alarm() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}

Alarm::~Alarm() {
  thread_.request_stop();
  thread_.join();
}

void Alarm::at(Clock::time_point when, std::function<void()> call) {
  const MutexLock lock(mutex_);
  const auto added = calls_.emplace(when, std::move(call));
  if (added == calls_.begin()) changed_.notify_one();
}

void Alarm::serve(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    if (calls_.empty()) {
      changed_.wait(lock, stop, [this]() KERNELSMITH_REQUIRES(mutex_) { return !calls_.empty(); });
      continue;
    }
    const auto next = calls_.begin()->first;
    if (next > Clock::now()) {
      changed_.wait_until(lock, stop, next,
                          [&]() KERNELSMITH_REQUIRES(mutex_) { return calls_.begin()->first < next; });
      continue;
    }
    const auto call = std::move(calls_.begin()->second);
    calls_.erase(calls_.begin());
    lock.unlock();
    call();
    lock.lock();
  }
}

}  // namespace kernelsmith::service

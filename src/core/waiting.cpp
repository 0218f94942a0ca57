#include <kernelsmith/core/waiting.hpp>

namespace kernelsmith {

void pause_for(Seconds pause, const std::stop_token& stop) {
  Mutex mutex;
  StoppableCondition never;
  MutexLock lock(mutex);
  never.wait_until(lock, stop, moment_after(std::chrono::steady_clock::now(), pause), [] { return false; });
}

void wait_for_stop(const std::stop_token& stop) {
  Mutex mutex;
  StoppableCondition never;
  MutexLock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

Repeater::Repeater(Look look, Moment first)
    : look_(std::move(look)), thread_([this, first](const std::stop_token& stop) { serve(first, stop); }) {}

Repeater::Repeater(std::chrono::milliseconds pause, std::function<void(const std::stop_token&)> work)
    : Repeater(
          [pause, work = std::move(work)](Moment, const std::stop_token& stop) {
            work(stop);
            return std::chrono::steady_clock::now() + pause;
          },
          Moment{}) {}

void Repeater::wake() {
  {
    const MutexLock lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void Repeater::serve(Moment next, const std::stop_token& stop) {
  while (true) {
    {
      MutexLock lock(mutex_);
      changed_.wait_until(lock, stop, next, [this]() KERNELSMITH_REQUIRES(mutex_) { return woken_; });
      woken_ = false;
    }
    if (stop.stop_requested()) return;
    next = look_(std::chrono::steady_clock::now(), stop);
  }
}

}  // namespace kernelsmith

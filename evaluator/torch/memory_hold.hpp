// MemoryHold: what a prepared task holds of its GPU's memory. It takes the bytes before they are used, and
// keeps them after that, with all that its processes cache there, until somebody else waits for them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/evaluator/device_memory.hpp>

namespace kernelsmith::torch {

/// begin() and end() are one thread's at a time.
class MemoryHold {
 public:
  /// To give back and to take again costs the start of a runner, up to five seconds: a sixth of a turn.
  static constexpr double kTurnS = 30;

  /// `give_back` frees what is cached. It is called, on any thread, only between end() and begin().
  MemoryHold(DeviceMemory memory, std::function<void()> give_back, DeviceMemory::Tell tell = {},
             double turn_s = kTurnS);

  /// Bytes to use until end(). Errors: those of DeviceMemory::take.
  Status begin(std::uint64_t bytes, const std::stop_token& stop);

  /// What is held stays held, unless others wait or it is not to be kept.
  void end(bool keep = true);

  std::uint64_t capacity() const { return memory_.capacity(); }

 private:
  void yield_to_others() KERNELSMITH_REQUIRES(mutex_);
  void drop() KERNELSMITH_REQUIRES(mutex_);

  const DeviceMemory memory_;
  const std::function<void()> give_back_;
  const DeviceMemory::Tell tell_;
  const double turn_s_;
  Mutex mutex_;
  std::optional<DeviceMemory::Held> held_ KERNELSMITH_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point since_ KERNELSMITH_GUARDED_BY(mutex_);
  bool used_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  /// A search that waits for a model, a server without requests: nobody calls end() there.
  Repeater watcher_;
};

}  // namespace kernelsmith::torch

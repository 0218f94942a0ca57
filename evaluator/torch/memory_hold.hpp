// MemoryHold: a prepared task's share of its GPU's memory. It claims the bytes before use. Afterwards it
// keeps them, with its processes' caches, until another process waits for them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/evaluator/device_memory.hpp>

namespace kernelsmith::torch {

/// Only one thread at a time may be between begin() and end().
class MemoryHold {
 public:
  /// The length of a turn. To release and claim the memory again costs the start of a runner: up to five
  /// seconds, a sixth of a turn.
  static constexpr double kTurnS = 30;

  /// `give_back` frees caches. It is called on any thread, only between end() and begin().
  MemoryHold(DeviceMemory memory, std::function<void()> give_back, DeviceMemory::Tell tell = {},
             double turn_s = kTurnS);
  /// Frees caches before the claim ends: the next task would find the memory full while the processes end.
  ~MemoryHold();
  MemoryHold(const MemoryHold&) = delete;
  MemoryHold& operator=(const MemoryHold&) = delete;

  /// Claims bytes for use until end(). Errors: those of DeviceMemory::take.
  Status begin(std::uint64_t bytes, const std::stop_token& stop);

  /// Keeps the memory, unless others wait or it should not be kept.
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
  /// Gives memory back in idle times, when end() is not called: while a search waits for a model, or a server
  /// for requests.
  Repeater watcher_;
};

}  // namespace kernelsmith::torch

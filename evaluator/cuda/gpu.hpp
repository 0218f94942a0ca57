// Gpu: one leased device with the judge's context and the runner for candidates, which is replaced when it
// dies.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>

#include "device/device.hpp"
#include "runner/runner.hpp"

namespace kernelsmith::cuda {

/// Starts a runner on the device. Thread-safe.
using RunnerStart = std::function<Result<std::unique_ptr<Runner>>()>;

/// Not thread-safe, except for device().
class Gpu {
 public:
  /// Opens the device and starts a runner and a spare. Errors: unsupported, tool_failed.
  static Result<std::shared_ptr<Gpu>> open(RunnerSettings settings);

  /// Does the same with an open device.
  static Result<std::shared_ptr<Gpu>> create(std::shared_ptr<Device> device, RunnerStart start);

  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }
  const RunnerStart& runner_start() const { return start_; }

  /// A live runner. If the last one died, it is the spare, or a new one if the spare died too. Then `epoch()`
  /// changes, nothing is mapped, and no plan is kept.
  Result<Runner*> runner();
  std::uint64_t epoch() const { return epoch_; }

  /// Waits until the spare has started, because a starting context disturbs other work on the device.
  void rest() const { spare_.wait(); }

 private:
  Gpu(std::shared_ptr<Device> device, RunnerStart start)
      : device_(std::move(device)), start_(std::move(start)) {}
  void start_spare();

  const std::shared_ptr<Device> device_;
  const RunnerStart start_;
  std::unique_ptr<Runner> runner_;
  std::future<Result<std::unique_ptr<Runner>>> spare_;
  std::uint64_t epoch_ = 0;
};

}  // namespace kernelsmith::cuda

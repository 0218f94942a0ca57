// Gpu: one leased device: the judge's context on it and the runner that candidates run in, replaced when it
// dies.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>

#include "device/device.hpp"
#include "runner/runner.hpp"

namespace kernelsmith::cuda {

/// Starts a runner on the device. Thread-safe.
using RunnerStart = std::function<Result<std::unique_ptr<Runner>>()>;

/// Not thread-safe, but for device().
class Gpu {
 public:
  /// Opens the device and starts a runner and a spare. Errors: unsupported, tool_failed.
  static Result<std::shared_ptr<Gpu>> open(RunnerSettings settings);

  /// The same of a device that is open.
  static Result<std::shared_ptr<Gpu>> create(std::shared_ptr<Device> device, RunnerStart start);

  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }
  const RunnerStart& runner_start() const { return start_; }

  /// A runner that lives. If the last one died it is the spare, or the next if the spare died too, and
  /// `epoch()` is another: nothing is mapped and no plan kept.
  Result<Runner*> runner();
  std::uint64_t epoch() const { return epoch_; }

  /// Returns when the spare has started: a context that comes up disturbs what runs on the device.
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

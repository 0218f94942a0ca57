// Nvml: clocks, throttle reasons and the driver's version from libnvidia-ml.so.1, if installed.
#pragma once

#include <string>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// A GPU in NVML. Without the library everything is unknown. Not thread-safe.
class Nvml final : public ClockReader {
 public:
  /// `bus_id` is what cuDeviceGetPCIBusId returns.
  explicit Nvml(const std::string& bus_id);
  ~Nvml() override;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// The reasons are nvmlClocksEventReason* bits.
  ClockState clocks() const override;
  std::string driver_version() const override;

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
};

}  // namespace kernelsmith::cuda

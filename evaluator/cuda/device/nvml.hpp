// Nvml: clocks, throttle reasons and the driver's version from libnvidia-ml.so.1, if it is there.
#pragma once

#include <cstdint>
#include <string>

namespace kernelsmith::cuda {

/// What the GPU's clocks do right now. Zero if it is not known.
struct ClockState {
  std::uint32_t throttle_reasons = 0;  ///< nvmlClocksEventReason* bits
  std::uint32_t sm_mhz = 0;
};

/// A GPU as NVML sees it. Without the library everything is unknown. Not thread-safe.
class Nvml {
 public:
  /// `bus_id` is that of cuDeviceGetPCIBusId.
  explicit Nvml(const std::string& bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  ClockState clocks() const;
  std::string driver_version() const;  ///< "580.95.05", or empty

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
};

}  // namespace kernelsmith::cuda

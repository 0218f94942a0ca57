// DeviceLease: a device of this machine for one process at a time, or for several that time nothing. Kernels
// are timed while no other process uses the device.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Uses two files with flock(2) locks. A lock ends with its process, so a killed process releases the device.
/// Thread-safe.
class DeviceLease {
 public:
  /// `name` identifies the device for every process of the machine, such as its PCI address; case does not
  /// matter. A container with its own /tmp does not see the leases of other processes.
  explicit DeviceLease(std::string name, const std::filesystem::path& folder = "/tmp");

  enum class Use {
    timed,    ///< no other use at the same time
    untimed,  ///< other untimed uses at the same time
  };

  /// Holds the device until it is destroyed. Movable.
  class Held {
   public:
    explicit Held(Descriptor lock) : lock_(std::move(lock)) {}

   private:
    Descriptor lock_;
  };

  /// Waits for the device. A process that is already waiting comes before the last holder, and a timed use
  /// that waits comes before new untimed ones; several waiting processes have no order. Errors: cancelled, io
  /// (the files cannot be made).
  Result<Held> take(const std::stop_token& stop, Use use = Use::timed) const;

 private:
  std::filesystem::path turn_, use_;
};

}  // namespace kernelsmith

// DeviceLease: a device of this machine for one process at a time. Kernels of two searches are not timed at
// the same time.
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

  /// Holds the device until it is destroyed. Movable.
  class Held {
   public:
    explicit Held(Descriptor lock) : lock_(std::move(lock)) {}

   private:
    Descriptor lock_;
  };

  /// Waits for the device. A process that is already waiting comes before the last holder; several waiting
  /// processes have no order. Errors: cancelled, io (the files cannot be made).
  Result<Held> take(const std::stop_token& stop) const;

 private:
  std::filesystem::path turn_, use_;
};

}  // namespace kernelsmith

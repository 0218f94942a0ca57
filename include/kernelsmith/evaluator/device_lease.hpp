// DeviceLease: a device of this machine for one process at a time. Kernels are not timed while another
// search's are.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Two files, locked with flock(2), which end with whoever holds them: what a killed process held is free.
/// Thread-safe.
class DeviceLease {
 public:
  /// `name` is the device's for every process of the machine, such as its PCI address. A container with a
  /// /tmp of its own leases for itself.
  explicit DeviceLease(const std::string& name, std::filesystem::path folder = "/tmp");

  /// The device, until this is destroyed. Movable.
  class Held {
   public:
    explicit Held(Descriptor lock) : lock_(std::move(lock)) {}

   private:
    Descriptor lock_;
  };

  /// Waits for it, behind nobody who asks later. Errors: cancelled, io (the files cannot be made).
  Result<Held> take(const std::stop_token& stop) const;

 private:
  std::filesystem::path turn_, use_;
};

}  // namespace kernelsmith

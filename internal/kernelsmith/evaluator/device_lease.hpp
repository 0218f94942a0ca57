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
  /// `name` is the device's for every process of the machine, such as its PCI address; its case does not
  /// matter. A container with a /tmp of its own leases for itself.
  explicit DeviceLease(std::string name, const std::filesystem::path& folder = "/tmp");

  /// The device, until this is destroyed. Movable.
  class Held {
   public:
    explicit Held(Descriptor lock) : lock_(std::move(lock)) {}

   private:
    Descriptor lock_;
  };

  /// Waits for it. Who had it last comes after one that waits already; among several that wait there is no
  /// order. Errors: cancelled, io (the files cannot be made).
  Result<Held> take(const std::stop_token& stop) const;

 private:
  std::filesystem::path turn_, use_;
};

}  // namespace kernelsmith

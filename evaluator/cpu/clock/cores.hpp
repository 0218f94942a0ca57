// The processors that this process may use, and which of them kernels of one thread are timed on.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <sys/types.h>

#include <kernelsmith/core/descriptor.hpp>

namespace kernelsmith::cpu {

/// Those that the calling thread may use, from the one that is best left to a measurement on: the last first,
/// for most interrupts go to the first, and one of each physical core before their siblings.
std::vector<int> cores_by_preference();

/// Leaves these threads no other processors. False if one of them is gone, or it is not permitted.
bool bind_to(std::span<const pid_t> threads, std::span<const int> cores);

/// Where the system describes them.
inline constexpr const char* kProcessors = "/sys/devices/system/cpu";

/// The processor's folder there.
std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors = kProcessors);

/// Where kernels of one thread are timed. What shares a physical core with a kernel slows it by a fifth and
/// more, on a virtual machine unseen: two that are compared must run on the same one.
/// Not thread-safe. Movable.
class TimingCore {
 public:
  /// Chooses among the cores that the calling thread may use one on which no other kernelsmith times, if
  /// there is one. What they lock stands in the processors' folders; tests name folders of their own.
  static TimingCore choose(const std::filesystem::path& processors = kProcessors);

  /// Its number; empty if the machine does not say which there are.
  const std::vector<int>& number() const { return number_; }

 private:
  std::vector<int> number_;
  Descriptor lock_;  ///< held for as long as this lives; others only prefer other cores for it
};

}  // namespace kernelsmith::cpu

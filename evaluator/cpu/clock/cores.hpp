// Chooses processors for timing kernels of one thread.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <sys/types.h>

#include <kernelsmith/core/descriptor.hpp>

namespace kernelsmith::cpu {

/// The processors that the calling thread may use, the best for measurements first. Later processors come
/// before earlier ones, because most interrupts go to the first. One processor of each physical core comes
/// before its siblings.
std::vector<int> cores_by_preference();

/// Binds these threads to the processors. False if a thread has ended or may not be bound.
bool bind_to(std::span<const pid_t> threads, std::span<const int> cores);

/// The system's folder that describes the processors.
inline constexpr const char* kProcessors = "/sys/devices/system/cpu";

/// The folder of processor `core` in `processors`.
std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors = kProcessors);

/// The core that times kernels of one thread. Work on the same physical core slows a kernel by a fifth or
/// more, and a virtual machine cannot see it. Two kernels that are compared must therefore run on the same
/// core. Not thread-safe. Movable.
class TimingCore {
 public:
  /// Chooses a core that the calling thread may use and on which no other kernelsmith measures, if there is
  /// such a core. Lock files are in the processors' folders; tests pass their own folders.
  static TimingCore choose(const std::filesystem::path& processors = kProcessors);

  /// The core's number; empty if the machine does not list its cores.
  const std::vector<int>& number() const { return number_; }

 private:
  std::vector<int> number_;
  Descriptor lock_;  ///< held for the lifetime of this object; it makes others prefer other cores
};

}  // namespace kernelsmith::cpu

// The processors that this process may use.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <sys/types.h>

namespace kernelsmith {

/// Those that the calling thread may use, from the one that is best left to a measurement on: the last first,
/// for most interrupts go to the first, and one of each physical core before their siblings.
std::vector<int> cores_by_preference();

/// Leaves these threads no other processors. False where one of them is gone, or it is not permitted.
bool bind_to(std::span<const pid_t> threads, std::span<const int> cores);

/// Keeps the calling thread off these processors while it lives, where it may use others.
class KeepOff {
 public:
  explicit KeepOff(std::span<const int> cores);
  KeepOff(const KeepOff&) = delete;
  KeepOff& operator=(const KeepOff&) = delete;
  ~KeepOff();

 private:
  std::vector<int> all_;  ///< those that it may use otherwise
};

/// Where the system describes them.
inline constexpr const char* kProcessors = "/sys/devices/system/cpu";

/// The processor's folder there.
std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors = kProcessors);

}  // namespace kernelsmith

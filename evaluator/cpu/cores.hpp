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

/// Those that the calling thread may use beside `core`: none of the same physical core, where there are
/// others.
std::vector<int> cores_beside(int core);

/// Leaves the calling thread no other processors while it lives.
class BoundTo {
 public:
  explicit BoundTo(std::span<const int> cores);
  BoundTo(const BoundTo&) = delete;
  BoundTo& operator=(const BoundTo&) = delete;
  ~BoundTo();

 private:
  std::vector<int> before_;
};

/// Where the system describes them.
inline constexpr const char* kProcessors = "/sys/devices/system/cpu";

/// The processor's folder there.
std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors = kProcessors);

}  // namespace kernelsmith

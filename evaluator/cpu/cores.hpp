// The processors that this process may use.
#pragma once

#include <filesystem>
#include <vector>

namespace kernelsmith {

/// Those that the calling thread may use, from the one that is best left to a measurement on: the last first,
/// for most interrupts go to the first, and one of each physical core before their siblings.
std::vector<int> cores_by_preference();

/// Where the system describes them.
inline constexpr const char* kProcessors = "/sys/devices/system/cpu";

/// The processor's folder there.
std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors = kProcessors);

}  // namespace kernelsmith

// The processors that this process may use.
#pragma once

#include <filesystem>
#include <vector>

namespace kernelsmith {

/// Those that the calling thread may use, from the one that is best left to a measurement on: the last first,
/// for most interrupts go to the first, and one of each physical core before their siblings.
std::vector<int> cores_by_preference();

/// The processor's folder in /sys.
std::filesystem::path folder_of_core(int core);

}  // namespace kernelsmith

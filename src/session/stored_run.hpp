// Where a run folder holds its task and its configuration.
#pragma once

namespace kernelsmith {

inline constexpr const char* kTaskFolder = "task";
inline constexpr const char* kConfigFile = "run.yaml";

}  // namespace kernelsmith

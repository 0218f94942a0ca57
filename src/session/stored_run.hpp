// The places of the task and the configuration in a run folder.
#pragma once

namespace kernelsmith {

inline constexpr const char* kTaskFolder = "task";
inline constexpr const char* kConfigFile = "run.yaml";

}  // namespace kernelsmith

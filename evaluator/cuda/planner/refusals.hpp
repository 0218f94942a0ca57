// Explains to the candidate's author what a plan cannot represent. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda::planner {

// Describes what a plan omits.
inline constexpr std::string_view kPersistence =
    "persistence in the L2 (access policy windows, and its limit)";
inline constexpr std::string_view kStreamPriority = "priorities of streams and launches";

/// Replaces each `$` in `text` with the runtime's prefix: "$Malloc" becomes "mcMalloc".
std::string in_runtime_names(std::string_view text, const RuntimeNames& names);

/// "cudaGraphCreate: a plan cannot hold graphs of the candidate's own: launch the kernels in order, ...".
std::string refusal_of(std::string_view function, const RuntimeNames& names);

/// Explains the loader's message about a host library that it could not load: a missing symbol or library.
std::string load_refusal(std::string_view loader_message, const RuntimeNames& names);

/// Whether the loader reports a missing function of the runtime or of a related library. The host library may
/// still be loaded, because it may never call the function.
bool misses_runtime(std::string_view loader_message, const RuntimeNames& names);

/// load_refusal() of the loader's output if the loader ended the process because of a missing function; else
/// empty.
std::string lookup_refusal(std::string_view printed, const RuntimeNames& names);

}  // namespace kernelsmith::cuda::planner

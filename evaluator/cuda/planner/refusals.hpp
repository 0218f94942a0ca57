// What a plan cannot hold, in words for the candidate's author. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda::planner {

// What a plan leaves out, in words.
inline constexpr std::string_view kPersistence =
    "persistence in the L2 (access policy windows, and its limit)";
inline constexpr std::string_view kStreamPriority = "priorities of streams and launches";

/// `text` with the runtime's prefix for each `$`: "$Malloc" is "mcMalloc".
std::string in_runtime_names(std::string_view text, const RuntimeNames& names);

/// "cudaGraphCreate: a plan cannot hold graphs of the candidate's own: launch the kernels in order, ...".
std::string refusal_of(std::string_view function, const RuntimeNames& names);

/// The same for what the loader said of a library that it could not load: a missing symbol or library.
std::string load_refusal(std::string_view loader_message, const RuntimeNames& names);

/// Whether the loader misses a function of the runtime or of a library beside it: such a library may be
/// loaded all the same, since it may only mention it.
bool misses_runtime(std::string_view loader_message, const RuntimeNames& names);

/// load_refusal() of what the loader printed when it ended the process for a function that it did not find;
/// empty if it did not.
std::string lookup_refusal(std::string_view printed, const RuntimeNames& names);

}  // namespace kernelsmith::cuda::planner

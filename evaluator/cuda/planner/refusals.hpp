// What a plan cannot hold, in words for the candidate's author. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace kernelsmith::cuda::planner {

// What a plan leaves out, in words.
inline constexpr std::string_view kPersistence =
    "persistence in the L2 (access policy windows, and its limit)";
inline constexpr std::string_view kStreamPriority = "priorities of streams and launches";

/// "cublasCreate_v2: a plan cannot hold calls of cuBLAS: write the product as a kernel of your own".
std::string refusal_of(std::string_view function);

/// The same for what the loader said of a library that it could not load: a missing symbol or library.
std::string load_refusal(std::string_view loader_message);

/// Whether the loader misses a function of CUDA's: such a library may be loaded all the same, since it may
/// only mention it.
bool misses_cuda(std::string_view loader_message);

/// load_refusal() of what the loader printed when it ended the process for a function that it did not find;
/// empty if it did not.
std::string lookup_refusal(std::string_view printed);

}  // namespace kernelsmith::cuda::planner

// How long a candidate's call may take on a GPU:
//
//     max(timeout_s, kOverYardstick x the yardstick's)
//
// A task raises it by its `timeout_s`. Beyond it the runner is killed, and a spare takes over.
#pragma once

namespace kernelsmith {

/// `timeout_s` of a task for a GPU that gives none: a hundred times what a call of 20 ms takes.
inline constexpr double kGpuTimeoutS = 2;
/// What is so many times slower than the yardstick needs no score.
inline constexpr double kOverYardstick = 100;

}  // namespace kernelsmith

// The time limit of a candidate's call on a GPU:
//
//     max(timeout_s, kOverYardstick x the yardstick's)
//
// A task raises it with `timeout_s`. After this time the runner is killed, and a spare takes over.
#pragma once

namespace kernelsmith {

/// The default `timeout_s` of a GPU task: a hundred times the time of a call of 20 ms.
inline constexpr double kGpuTimeoutS = 2;
/// A candidate this many times slower than the yardstick needs no score.
inline constexpr double kOverYardstick = 100;

}  // namespace kernelsmith

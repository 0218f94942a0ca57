// The time limit of a candidate's call on a GPU:
//
//     max(timeout_s, kOverYardstick x the yardstick's)
//
// A task raises the limit with `timeout_s`. At the limit the runner is killed, and a spare one takes over.
#pragma once

namespace kernelsmith {

/// The default `timeout_s` of a GPU task: a hundred times the time of a call of 20 ms.
inline constexpr double kGpuTimeoutS = 2;
/// A candidate that is this many times slower than the yardstick needs no score.
inline constexpr double kOverYardstick = 100;

}  // namespace kernelsmith

// The lone cap: the limit for the gain of a batch of several calls. A kernel could work on the inputs of all
// calls at once, so a batch of n calls can be faster than the n single calls that a user makes. Pure
// functions.
#pragma once

#include <span>

namespace kernelsmith::timing {

/// The players' times of a call: medians of the batches, and all single-call samples.
struct LoneTimes {
  double player_us = 0, yardstick_us = 0;
  std::span<const double> player_lone_us, yardstick_lone_us;
};

/// The shortest time of a call that the player's single calls justify, in microseconds:
///
///   (yardstick_us + d) / kLoneMargin,  d the low end of the median of (player_lone - yardstick_lone)
///
/// The player is thus granted what a single call costs the yardstick, what chance explains, and a margin.
/// `noise_us` is the scatter of one batch's time: d is at least noise_us / sqrt(samples) below its median.
double least_believable_us(const LoneTimes& times, double noise_us);

/// The divisor of the player's batch times: at most 1, and exactly 1 if these times are plausible or there
/// are no single-call samples.
double lone_cap(const LoneTimes& times, double noise_us);

}  // namespace kernelsmith::timing

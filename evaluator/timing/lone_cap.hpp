// The lone cap: what a batch of several calls may gain. A kernel can work on all the inputs that are there,
// so a batch of n calls can be faster than n calls; a user makes one. Pure functions.
#pragma once

#include <span>

namespace kernelsmith::timing {

/// The players' times of a call: medians of the batches, and the lone samples one by one.
struct LoneTimes {
  double player_us = 0, yardstick_us = 0;
  std::span<const double> player_lone_us, yardstick_lone_us;
};

/// The least time of a call that the player's lone calls allow for, in microseconds:
///
///   (yardstick_us + d) / kLoneMargin,  d the low end of the median of (player_lone - yardstick_lone)
///
/// So the player is granted what being alone costs the yardstick, chance, and a margin. `noise_us` is what
/// one batch's time scatters by itself: d is at least noise_us / sqrt(samples) below its median.
double least_believable_us(const LoneTimes& times, double noise_us);

/// What its batch times are to be divided by: at most 1, and 1 if they are believable or there are no lone
/// samples.
double lone_cap(const LoneTimes& times, double noise_us);

}  // namespace kernelsmith::timing

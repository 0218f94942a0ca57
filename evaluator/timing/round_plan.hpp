// Plans a round at a shape: the number of samples, and of calls in a batch. Pure functions.
#pragma once

#include <cstddef>

namespace kernelsmith::timing {

struct RoundNeeds {
  std::size_t sets_left = 0;       ///< sets left after this round's warm-up
  std::size_t rounds_done = 0;     ///< rounds so far in this evaluation
  std::size_t rounds_of_turn = 1;  ///< rounds left in this turn, including this one
  std::size_t capacity = 1;        ///< calls that a batch can hold
  double call_us = 0;              ///< the time of the fastest player's call
  std::size_t least_samples = 4;   ///< samples of the round if there are enough sets
  double batch_us = 40;            ///< HostTraits::batch_us
  bool lone_samples = true;        ///< single calls limit batches of several calls
  std::size_t sharing = 1;         ///< shapes that share a round's time, because the score is their mean
};

struct RoundPlan {
  std::size_t samples = 0;  ///< 0: the sets are used up
  std::size_t batches = 1;  ///< batches of a sample
  std::size_t calls = 1;    ///< calls of a batch
  std::size_t lone = 0;     ///< additional samples with batches of one call
};

/// The sets are divided evenly among the rounds of this turn and those that a search can add. If the share is
/// large enough, a batch takes `batch_us`, a sample kSampleUs, and a round kRoundUs; shapes share the last
/// two.
RoundPlan plan_round(const RoundNeeds& needs);

}  // namespace kernelsmith::timing

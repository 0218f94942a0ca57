// How many samples a round takes at a shape, and how many calls a batch holds. Pure functions.
#pragma once

#include <cstddef>

namespace kernelsmith::timing {

struct RoundNeeds {
  std::size_t sets_left = 0;       ///< after this round's warm-up
  std::size_t rounds_done = 0;     ///< in this evaluation
  std::size_t rounds_of_turn = 1;  ///< still to come in this turn, this one included
  std::size_t capacity = 1;        ///< calls that a batch can hold
  double call_us = 0;              ///< the fastest player's
  std::size_t least_samples = 4;   ///< that the round takes if the sets suffice
  double batch_us = 40;            ///< HostTraits::batch_us
  bool lone_samples = true;        ///< batches of several calls are bounded by lone calls
};

struct RoundPlan {
  std::size_t samples = 0;  ///< 0: the sets are used up
  std::size_t batches = 1;  ///< of a sample
  std::size_t calls = 1;    ///< of a batch
  std::size_t lone = 0;     ///< further samples whose batches are one call
};

/// The sets are shared out evenly to the rounds of this turn, and to those that a search can take. A batch
/// is as many calls as take `batch_us`, a sample as many batches as take kSampleUs, and a round as many
/// samples as take kRoundUs, if the share suffices.
RoundPlan plan_round(const RoundNeeds& needs);

}  // namespace kernelsmith::timing

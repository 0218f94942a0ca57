#include "timing/round_plan.hpp"

#include <algorithm>

#include "judge/constants.hpp"

namespace kernelsmith::timing {

using judge::kLoneOfRound, judge::kRoundsPlanned, judge::kSamplesOfRound;

RoundPlan plan_round(const RoundNeeds& needs) {
  constexpr std::size_t kLeastOfRound = kSamplesOfRound + 1;  // with the warm-up
  const std::size_t planned = kRoundsPlanned - std::min(kRoundsPlanned, needs.rounds_done);
  const std::size_t rounds =
      std::max(needs.rounds_of_turn, std::min(planned, (needs.sets_left + 1) / kLeastOfRound));
  const std::size_t warm_ups = rounds - 1;
  if (needs.sets_left <= warm_ups) return {};
  const std::size_t share = (needs.sets_left - warm_ups) / rounds;

  RoundPlan plan{std::min(kSamplesOfRound, share)};
  if (plan.samples == 0 || share < kLoneOfRound + 2 * plan.samples) return plan;
  const double wanted = judge::kBatchUs / std::max(needs.call_us, judge::kLeastUs);
  const std::size_t most = std::min((share - kLoneOfRound) / plan.samples, needs.capacity);
  if (wanted < 2 || most < 2) return plan;
  plan.calls = static_cast<std::size_t>(std::min(wanted, static_cast<double>(most)));
  plan.lone = kLoneOfRound;
  return plan;
}

}  // namespace kernelsmith::timing

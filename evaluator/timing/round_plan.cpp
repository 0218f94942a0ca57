#include "timing/round_plan.hpp"

#include <algorithm>

#include "judge/constants.hpp"

namespace kernelsmith::timing {
namespace {

using judge::kLoneOfRound, judge::kRoundsInSearch;

/// How many times `us` fits into `whole_us`, but at least 1.
std::size_t times_in(double whole_us, double us) {
  return static_cast<std::size_t>(std::max(whole_us / std::max(us, judge::kLeastUs), 1.0));
}

/// How many sets one round takes after its warm-up: an equal share of those for the rounds to come.
std::size_t share_of(const RoundNeeds& needs) {
  const std::size_t least_of_round = needs.least_samples + 1;  // with the warm-up
  const std::size_t planned = kRoundsInSearch - std::min(kRoundsInSearch, needs.rounds_done);
  const std::size_t rounds =
      std::max(needs.rounds_of_turn, std::min(planned, (needs.sets_left + 1) / least_of_round));
  const std::size_t warm_ups = rounds - 1;
  return needs.sets_left <= warm_ups ? 0 : (needs.sets_left - warm_ups) / rounds;
}

}  // namespace

RoundPlan plan_round(const RoundNeeds& needs) {
  const std::size_t share = share_of(needs);
  RoundPlan plan;
  const std::size_t lone = needs.lone_samples ? kLoneOfRound : 0;
  if (share >= lone + 2 * needs.least_samples) {
    const std::size_t most = std::min((share - lone) / needs.least_samples, needs.capacity);
    plan.calls = std::clamp<std::size_t>(times_in(needs.batch_us, needs.call_us), 1, most);
  }
  plan.lone = plan.calls > 1 ? lone : 0;
  const double batch_us = needs.call_us * static_cast<double>(plan.calls);
  const auto part_of = [&](double us) { return us / static_cast<double>(needs.sharing); };
  const std::size_t batches = (share - plan.lone) / plan.calls;
  plan.batches = std::clamp<std::size_t>(times_in(part_of(judge::kSampleUs), batch_us), 1,
                                         std::max<std::size_t>(batches / needs.least_samples, 1));
  const double sample_us = batch_us * static_cast<double>(plan.batches);
  const std::size_t wanted = std::max(times_in(part_of(judge::kRoundUs), sample_us), needs.least_samples);
  plan.samples = std::min(wanted, batches / plan.batches);
  return plan;
}

}  // namespace kernelsmith::timing

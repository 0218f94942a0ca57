#include "timing/round_plan.hpp"

#include <gtest/gtest.h>

namespace kernelsmith::timing {
namespace {

TEST(RoundPlan, LongCallsAreBatchesOfOne) {
  const RoundPlan plan =
      plan_round({.sets_left = 100, .rounds_done = 0, .rounds_of_turn = 2, .capacity = 64, .call_us = 300});
  EXPECT_EQ(plan.samples, 4U);
  EXPECT_EQ(plan.calls, 1U);
  EXPECT_EQ(plan.lone, 0U);
}

TEST(RoundPlan, ShortCallsFillABatchAndAreTimedAloneToo) {
  const RoundPlan plan =
      plan_round({.sets_left = 250, .rounds_done = 0, .rounds_of_turn = 2, .capacity = 64, .call_us = 50});
  EXPECT_EQ(plan.samples, 4U);
  EXPECT_EQ(plan.calls, 10U);
  EXPECT_EQ(plan.lone, 8U);
}

TEST(RoundPlan, FewSetsGiveShorterBatches) {
  const RoundNeeds needs{
      .sets_left = 100, .rounds_done = 0, .rounds_of_turn = 2, .capacity = 64, .call_us = 20};
  const RoundPlan plan = plan_round(needs);
  EXPECT_EQ(plan.calls, 4U);
  EXPECT_LE(4 * (1 + plan.lone + plan.samples * plan.calls), needs.sets_left + 1) << "four rounds of these";
}

TEST(RoundPlan, OfVeryFewEachRoundGetsItsShare) {
  RoundNeeds needs{.sets_left = 9, .rounds_done = 0, .rounds_of_turn = 3, .capacity = 64, .call_us = 20};
  EXPECT_EQ(plan_round(needs).samples, 2U);
  EXPECT_EQ(plan_round(needs).calls, 1U);
  needs.rounds_of_turn = 1;
  EXPECT_EQ(plan_round(needs).samples, 4U);
  needs.sets_left = 0;
  EXPECT_EQ(plan_round(needs).samples, 0U);
}

TEST(RoundPlan, TheHostSetsALimit) {
  EXPECT_EQ(
      plan_round({.sets_left = 250, .rounds_done = 0, .rounds_of_turn = 2, .capacity = 3, .call_us = 20})
          .calls,
      3U);
  EXPECT_EQ(
      plan_round({.sets_left = 250, .rounds_done = 0, .rounds_of_turn = 2, .capacity = 1, .call_us = 20})
          .lone,
      0U);
}

}  // namespace
}  // namespace kernelsmith::timing

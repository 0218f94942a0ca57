#include "timing/round_plan.hpp"

#include "testing.hpp"

namespace kernelsmith::timing {
namespace {

RoundNeeds needs(std::size_t sets_left, double call_us) {
  return {.sets_left = sets_left, .rounds_done = 0, .rounds_of_turn = 2, .capacity = 64, .call_us = call_us};
}

TEST(RoundPlan, LongCallsAreBatchesOfOne) {
  const RoundPlan plan = plan_round(needs(100, 300));
  EXPECT_EQ(plan.samples, 4U);
  EXPECT_EQ(plan.calls, 1U);
  EXPECT_EQ(plan.lone, 0U);
}

TEST(RoundPlan, ARoundOfShorterCallsTakesMoreSamples) {
  const RoundPlan plan = plan_round(needs(250, 60));
  EXPECT_EQ(plan.samples, 5U) << "a millisecond of calls";
  EXPECT_EQ(plan.calls, 1U);
  EXPECT_EQ(plan.batches, 3U) << "200 us";
  EXPECT_EQ(plan_round(needs(60, 60)).samples, 4U) << "a fourth of the sets";
}

TEST(RoundPlan, ASampleHoldsSeveralShortCallsTimedOneByOne) {
  const RoundPlan plan = plan_round(needs(250, 20));
  EXPECT_EQ(plan.calls, 2U) << "40 us";
  EXPECT_EQ(plan.batches, 5U) << "200 us";
  EXPECT_EQ(plan_round(needs(250, 25)).calls, 1U);
  EXPECT_EQ(plan_round(needs(250, 25)).batches, 8U);
  EXPECT_EQ(plan_round(needs(250, 250)).batches, 1U);
}

TEST(RoundPlan, ShortCallsFillABatchAndAreTimedAloneToo) {
  const RoundPlan plan = plan_round(needs(250, 10));
  EXPECT_EQ(plan.calls, 4U) << "40 us";
  EXPECT_EQ(plan.lone, 8U);
  EXPECT_EQ(plan.batches, 3U) << "more would leave fewer than four samples of a fourth of the sets";
  EXPECT_EQ(plan.samples, 4U);
}

TEST(RoundPlan, ShapesShareTheTimeOfSamplesAndRounds) {
  RoundNeeds shared = needs(2000, 5);
  shared.batch_us = 100;
  shared.lone_samples = false;
  EXPECT_EQ(plan_round(shared).batches, 2U) << "200 us";
  EXPECT_EQ(plan_round(shared).samples, 5U) << "a millisecond";
  shared.sharing = 5;
  EXPECT_EQ(plan_round(shared).calls, 20U);
  EXPECT_EQ(plan_round(shared).batches, 1U);
  EXPECT_EQ(plan_round(shared).samples, 4U) << "the minimum";
}

TEST(RoundPlan, FewSetsGiveShorterBatches) {
  const RoundNeeds few = needs(100, 5);
  const RoundPlan plan = plan_round(few);
  EXPECT_EQ(plan.calls, 4U);
  EXPECT_EQ(plan.samples, 4U);
  EXPECT_LE(4 * (1 + plan.lone + plan.samples * plan.calls), few.sets_left + 1) << "four rounds of these";
}

TEST(RoundPlan, OfVeryFewEachRoundGetsItsShare) {
  RoundNeeds few = needs(9, 20);
  few.rounds_of_turn = 3;
  EXPECT_EQ(plan_round(few).samples, 2U);
  EXPECT_EQ(plan_round(few).calls, 1U);
  few.rounds_of_turn = 1;
  EXPECT_EQ(plan_round(few).samples, 4U);
  few.sets_left = 0;
  EXPECT_EQ(plan_round(few).samples, 0U);
}

TEST(RoundPlan, TheHostSetsALimit) {
  RoundNeeds limited = needs(250, 10);
  limited.capacity = 3;
  EXPECT_EQ(plan_round(limited).calls, 3U);
  limited.capacity = 1;
  EXPECT_EQ(plan_round(limited).lone, 0U);
}

}  // namespace
}  // namespace kernelsmith::timing

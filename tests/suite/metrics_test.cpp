#include <kernelsmith/suite/metrics.hpp>

#include "golden.hpp"

namespace kernelsmith {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr double kNear = 1e-12;

TEST(SuiteMetrics, OfTheFirstLevelAreThoseComputedByHand) {
  const SuiteMetrics level = summarise(testing::golden_results()).at(0);
  EXPECT_EQ(level.level, 1u);
  EXPECT_EQ(level.tasks, 4u);
  EXPECT_EQ(level.errors, 1u);
  EXPECT_DOUBLE_EQ(level.corr, 0.5);
  // 2 is not faster than 2; the task with an error and the wrong one count.
  EXPECT_THAT(level.fast, ElementsAre(0.5, 0.25, 0.25, 0.25, 0.0));
  EXPECT_DOUBLE_EQ(level.amsr, 0.5);  // (2 + 0 + 0 + 0) / 4: 0.5x is below 1
  EXPECT_THAT(level.geomean, Optional(DoubleEq(1.0)));
  EXPECT_THAT(level.median, Optional(DoubleEq(1.25)));
  EXPECT_THAT(level.hack_rate, Optional(DoubleEq(0.3)));
  EXPECT_THAT(level.trivial_rate, Optional(DoubleEq(0.5)));
  EXPECT_EQ(level.cost, (SuiteCost{5, 1, 3100, 310, 0.75}));
  EXPECT_THAT(level.amsr_by_round, ElementsAre(0.0, 0.375, 0.5, 0.5));
}

TEST(SuiteMetrics, OfTheSecondLevelAreThoseComputedByHand) {
  const SuiteMetrics level = summarise(testing::golden_results()).at(1);
  EXPECT_EQ(level.level, 2u);
  EXPECT_EQ(level.errors, 0u);
  EXPECT_DOUBLE_EQ(level.corr, 1.0);
  EXPECT_THAT(level.fast, ElementsAre(1.0, 1.0, 0.5, 0.5, 0.5));  // 1.2 is not faster than 1.2
  EXPECT_DOUBLE_EQ(level.amsr, 4.6);
  EXPECT_THAT(level.geomean, Optional(DoubleNear(3.0983866769659336, kNear)));  // sqrt(9.6)
  EXPECT_THAT(level.median, Optional(DoubleEq(4.6)));
  EXPECT_THAT(level.hack_rate, Optional(0.0));
  EXPECT_THAT(level.trivial_rate, Optional(0.0));
  EXPECT_THAT(level.amsr_by_round, ElementsAre(DoubleEq(2.6), DoubleEq(4.6)));
}

TEST(SuiteMetrics, OfAllTasksAreThoseComputedByHand) {
  const auto all = summarise(testing::golden_results());
  ASSERT_EQ(all.size(), 3u);
  const SuiteMetrics& metrics = all.at(2);
  EXPECT_FALSE(metrics.level);
  EXPECT_EQ(metrics.tasks, 6u);
  EXPECT_DOUBLE_EQ(metrics.corr, 4.0 / 6);
  EXPECT_THAT(metrics.fast,
              ElementsAre(DoubleEq(4.0 / 6), 0.5, DoubleEq(2.0 / 6), DoubleEq(2.0 / 6), DoubleEq(1.0 / 6)));
  EXPECT_NEAR(metrics.amsr, 11.2 / 6, kNear);
  EXPECT_THAT(metrics.geomean, Optional(DoubleNear(1.7602235, 1e-7)));  // the fourth root of 9.6
  EXPECT_THAT(metrics.median, Optional(DoubleEq(1.6)));
  EXPECT_THAT(metrics.hack_rate, Optional(DoubleEq(3.0 / 16)));
  EXPECT_THAT(metrics.trivial_rate, Optional(DoubleEq(0.25)));
  EXPECT_THAT(metrics.amsr_by_round, ElementsAre(DoubleNear(5.2 / 6, kNear), DoubleNear(10.7 / 6, kNear),
                                                 DoubleNear(11.2 / 6, kNear), DoubleNear(11.2 / 6, kNear)));
}

TEST(SuiteMetrics, OfNothingAreZeroOrUnknown) {
  const auto all = summarise({});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front(), SuiteMetrics{});
}

TEST(SuiteMetrics, HaveNoGeometricMeanWhereAFitnessIsNotPositive) {
  const std::vector<TaskResult> results = {testing::solved("a", 0, -3, {}), testing::solved("b", 0, 4, {})};
  const SuiteMetrics metrics = summarise(results).back();
  EXPECT_FALSE(metrics.geomean);
  EXPECT_THAT(metrics.median, Optional(0.5));
  EXPECT_DOUBLE_EQ(metrics.amsr, 2);
  EXPECT_THAT(metrics.fast, ElementsAre(0.5, 0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(metrics.amsr_by_round, IsEmpty());
}

}  // namespace
}  // namespace kernelsmith

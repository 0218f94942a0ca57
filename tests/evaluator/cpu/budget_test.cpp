#include "budget.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

constexpr double kUnit = 0x1p-24, kCostly = std::numeric_limits<double>::infinity();

Budget of_sum(double terms, double half) {
  return budget_of(Task{}, Dtype::f32, Scale::sensitivity, terms, half, false);
}

TEST(Budget, GrowsNoFurtherBeyondALongSum) {
  EXPECT_DOUBLE_EQ(of_sum(1024, kCostly).element, 1024 * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(kLongSum, kCostly).element, kLongSum * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum, kCostly).element, kLongSum * kUnit);
}

TEST(Budget, IsLessThanWhatLeavingOutHalfOfTheTermsCosts) {
  const double half = 500 * kUnit;
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum, half).element, half);
  EXPECT_LE(of_sum(16 * kLongSum, half).rms, half);
}

TEST(Budget, LeavesRoomForRoundingWhereHalfOfTheTermsCostNothing) {
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum, 0).element, 64 * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum, 0).rms, 16 * kUnit);
}

TEST(Budget, IsForWorstOrdersBesideLargeTerms) {
  Task task;
  task.tensors.emplace_back().specials.large = true;
  const Budget budget = budget_of(task, Dtype::f32, Scale::sensitivity, 16 * kLongSum, kUnit, true);
  EXPECT_DOUBLE_EQ(budget.element, 16 * kLongSum * kUnit);
}

}  // namespace
}  // namespace kernelsmith

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
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum, half).element, half / 2);
  EXPECT_LE(of_sum(16 * kLongSum, half).rms, half);
}

TEST(Budget, LeavesRoomForRoundingWhereHalfOfTheTermsCostNothing) {
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum, 0).element, 64 * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum, 0).rms, 16 * kUnit);
}

Budget beside_large(double terms, double half) {
  Task task;
  task.tensors.emplace_back().specials.large = true;
  return budget_of(task, Dtype::f32, Scale::sensitivity, terms, half, true);
}

TEST(Budget, IsForWorstOrdersBesideLargeTerms) {
  EXPECT_DOUBLE_EQ(beside_large(16 * kLongSum, kCostly).element, 16 * kLongSum * kUnit);
}

TEST(Budget, BesideLargeTermsIsLessThanWhatLeavingOutHalfCostsToo) {
  const double half = 8 * kLongSum * kUnit;
  EXPECT_LT(beside_large(16 * kLongSum, half).element, half);
  EXPECT_DOUBLE_EQ(beside_large(16 * kLongSum, 0).element, kLongSum * kUnit);
}

TEST(Budget, OfAShortSumHasNoRoomForHalfOfAPartThatHardlyCounts) {
  EXPECT_DOUBLE_EQ(of_sum(kLongSum, 200 * kUnit).element, 100 * kUnit);
  EXPECT_LE(of_sum(kLongSum, 200 * kUnit).rms, 200 * kUnit / 4);
}

Budget allowing(const char* allowed, const char* policy = "auto") {
  Task task;
  task.tolerance.policy = policy;
  if (allowed != nullptr) task.tolerance.allow = {allowed};
  return budget_of(task, Dtype::f32, Scale::sensitivity, 256 * kLongSum, 8 * kLongSum * kUnit, false);
}

TEST(Budget, WhatIsAllowedHasNoRoomForHalfOfALongSumEither) {
  const double half = 8 * kLongSum * kUnit;
  for (const char* const allowed : {"f16_accumulate", "bf16_accumulate"}) {
    EXPECT_DOUBLE_EQ(allowing(allowed).element, half / 2) << allowed;
    EXPECT_LE(allowing(allowed).rms, half / 4) << allowed;
  }
  EXPECT_LE(allowing(nullptr, "normwise").rms, half / 4);
}

TEST(Budget, RoundedInputsAreGrantedByWhatTheyChange) {
  EXPECT_DOUBLE_EQ(allowing("tf32").element, allowing(nullptr).element);
  EXPECT_GT(allowing("tf32").rounded_inputs, 0);
}

}  // namespace
}  // namespace kernelsmith

#include "truth/budget.hpp"

#include "testing.hpp"

namespace kernelsmith::truth {
namespace {

constexpr double kUnit = 0x1p-24;

Budget of_sum(double terms, Scale scale = Scale::sensitivity, Dtype dtype = Dtype::f32) {
  return budget_of(Task{}, dtype, scale, terms);
}

TEST(Budget, OfAShortSumIsSixtyFourUnits) {
  for (const Scale scale : {Scale::sensitivity, Scale::absolute}) {
    EXPECT_DOUBLE_EQ(of_sum(1, scale).element, 64 * kUnit);
    EXPECT_DOUBLE_EQ(of_sum(1, scale).rms, 16 * kUnit);
  }
}

TEST(Budget, GrowsWithTheTermsUpToALongSumAndThenWithTheirRoot) {
  EXPECT_DOUBLE_EQ(of_sum(1024).element, 1024 * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(1024).rms, 256 * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(kLongSum).element, kLongSum * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(16 * kLongSum).element, kLongSum * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(0x1p22).element, 0x1p13 * kUnit);
}

TEST(Budget, OfSumsOfProductsGrowsWithTheRoot) {
  EXPECT_DOUBLE_EQ(of_sum(1024, Scale::absolute).element, 128 * kUnit);
  EXPECT_DOUBLE_EQ(of_sum(1024, Scale::absolute).rms, 64 * kUnit);
}

TEST(Budget, IsInUnitsOfTheOutput) {
  EXPECT_DOUBLE_EQ(of_sum(1, Scale::absolute, Dtype::f64).element, 64 * 0x1p-53);
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2}) {
    const double unit = traits_of(dtype).unit_roundoff;
    EXPECT_DOUBLE_EQ(of_sum(1, Scale::absolute, dtype).element, 64 * kUnit + 4 * unit) << name_of(dtype);
    EXPECT_DOUBLE_EQ(of_sum(1, Scale::absolute, dtype).rms, 16 * kUnit + unit) << name_of(dtype);
  }
}

Budget allowing(const char* allowed, const char* policy = "auto") {
  Task task;
  task.tolerance.policy = policy;
  if (allowed != nullptr) task.tolerance.allow = {allowed};
  return budget_of(task, Dtype::f32, Scale::absolute, 1024);
}

TEST(Budget, RoundedInputsAreGrantedByWhatTheyChange) {
  EXPECT_DOUBLE_EQ(allowing("tf32").element, allowing(nullptr).element);
  EXPECT_DOUBLE_EQ(allowing("tf32").rounded, 4 * 0x1p-11);
  EXPECT_DOUBLE_EQ(allowing("tf32").rounded_rms, 0x1p-11);
  EXPECT_EQ(allowing(nullptr).rounded, 0);
}

TEST(Budget, SumsInALowerPrecisionAreGrantedByTheirLength) {
  EXPECT_DOUBLE_EQ(allowing("f16_accumulate").element, allowing(nullptr).element + 64 * 0x1p-11);
  EXPECT_DOUBLE_EQ(allowing("f16_accumulate").rms, allowing(nullptr).rms + 16 * 0x1p-11);
  EXPECT_DOUBLE_EQ(allowing("bf16_accumulate").element, allowing(nullptr).element + 64 * 0x1p-8);
}

TEST(Budget, NormwiseLeavesRoomForFasterAlgorithms) {
  EXPECT_DOUBLE_EQ(allowing(nullptr, "normwise").rms, 4 * allowing(nullptr).rms);
}

TEST(Budget, WhatIsAboutTheSmallestNumberMayBeLostUnlessItIsDeclared) {
  Task task;
  task.tensors.emplace_back();
  EXPECT_DOUBLE_EQ(tiny_of(task, Dtype::f32), 0x1p-116);
  EXPECT_DOUBLE_EQ(tiny_of(task, Dtype::bf16), 0x1p-116);
  EXPECT_DOUBLE_EQ(tiny_of(task, Dtype::f16), 0x1p-23) << "its denormals are in daily use";
  EXPECT_DOUBLE_EQ(tiny_of(task, Dtype::f8e4m3), 0x1p-8);
  task.tensors[0].specials.denormals = true;
  EXPECT_DOUBLE_EQ(tiny_of(task, Dtype::f32), 0x1p-143);
  EXPECT_DOUBLE_EQ(tiny_of(task, Dtype::bf16), 0x1p-132) << "of whose denormals there are few";
}

}  // namespace
}  // namespace kernelsmith::truth

#include "answers.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

/// What a function of one input answers to perturbations of it by 2^-20, and every other one by 2^-11 where
/// `coarse` asks for these.
double sensitivity_of(const std::function<double(double)>& function, double x, bool coarse) {
  std::vector<double> values = {function(x), function(std::fabs(x))};
  Answers<double> answers;
  answers.per_step = {0, 0};
  answers.has_coarse = coarse;
  for (std::size_t v = 0; v < kPerturbations; ++v) {
    const double step = coarse && v % 2 == 1 ? kCoarsePerturbation : kPerturbation;
    const double unit = v % 4 < 2 ? 1 : -1;
    values.push_back(function(x * (1 + unit * step)));
    answers.per_step.push_back(1 / step);
  }
  for (const double& value : values) answers.of.push_back(reinterpret_cast<const std::byte*>(&value));
  return answers.sensitivity(0);
}

double squared(double x) { return x * x; }
double whole_days(double x) { return std::floor(x / 24); }

TEST(Answers, ASmoothFunctionIsAsSensitiveToCoarseSteps) {
  EXPECT_NEAR(sensitivity_of(squared, 3, false), 18, 1e-3);
  EXPECT_NEAR(sensitivity_of(squared, 3, true), 18, 1e-2);
}

TEST(Answers, AJumpIsTakenByCoarseSteps) {
  EXPECT_GT(sensitivity_of(whole_days, 48, false), 0.5 / kPerturbation);
  const double coarse = sensitivity_of(whole_days, 48, true);
  EXPECT_GT(coarse, 0.5 / kCoarsePerturbation);
  EXPECT_LE(coarse, 1 / kCoarsePerturbation);
}

TEST(Answers, WhatIsNotFiniteTellsNothing) {
  const auto finite_above_one = [](double x) { return x < 1 ? HUGE_VAL : x; };
  EXPECT_NEAR(sensitivity_of(finite_above_one, 1, true), 1, 1e-3);
}

/// Whether outputs look like sums of products whose answers are these: plain, to the absolute inputs, and
/// how far perturbed inputs move them.
struct Output {
  double plain, absolute, sensitivity;
};

bool look_like_sums(const std::vector<Output>& outputs) {
  std::vector<std::vector<double>> values(kAllVariants);
  Answers<double> answers;
  for (std::size_t v = 0; v < values.size(); ++v) {
    for (const Output& output : outputs)
      values[v].push_back(v == kPlain      ? output.plain
                          : v == kAbsolute ? output.absolute
                                           : output.plain + output.sensitivity * kPerturbation);
    answers.of.push_back(reinterpret_cast<const std::byte*>(values[v].data()));
    answers.per_step.push_back(1 / kPerturbation);
  }
  return looks_like_sums(answers, outputs.size());
}

TEST(Answers, SumsOfProductsAreBoundByTheAbsoluteInputs) {
  EXPECT_TRUE(look_like_sums({{-3, 20, 4}, {1, 15, 3}}));
  EXPECT_FALSE(look_like_sums({{-3, 2, 1}, {1, 15, 3}}));
}

TEST(Answers, OneAbsurdBoundAmongManyOutputsIsNoSumOfProducts) {
  std::vector<Output> outputs(1000, {1, 4, 2});
  EXPECT_TRUE(look_like_sums(outputs));
  outputs.back().absolute = 1e30;
  EXPECT_FALSE(look_like_sums(outputs));
}

TEST(Answers, EvenFunctionsAndZerosAreNoSumsOfProducts) {
  EXPECT_FALSE(look_like_sums({{0.5, 0.5, 1000}, {0.2, 0.2, 900}}));
  EXPECT_FALSE(look_like_sums({{0, 0, 0}, {0, 0, 0}}));
}

TEST(Answers, SquaresBeyondTheLargestDoubleHaveARoot) {
  MeanSquare<long double> huge;
  huge.add(1e300);
  huge.add(-1e300);
  EXPECT_DOUBLE_EQ(huge.root(), 1e300);
}

}  // namespace
}  // namespace kernelsmith

#include "answers.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

/// What a function of one input answers to perturbations of it by 2^-20, and every other one by 2^-11 where
/// `coarse` asks for these.
double sensitivity_of(const std::function<double(double)>& function, double x, bool coarse) {
  std::vector<double> values = {function(x), function(std::fabs(x))};
  Answers<double> answers;
  answers.steps = {0, 0};
  for (std::size_t v = 0; v < kPerturbations; ++v) {
    const double step = coarse && v % 2 == 1 ? kCoarsePerturbation : kPerturbation;
    const double unit = v % 4 < 2 ? 1 : -1;
    values.push_back(function(x * (1 + unit * step)));
    answers.steps.push_back(step);
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

}  // namespace
}  // namespace kernelsmith

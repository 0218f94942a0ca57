#include "remembered.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

AbbaRatios pairs_of(const std::vector<double>& unmet, const std::vector<double>& met) {
  AbbaRatios pairs;
  for (const bool before : {false, true})
    for (const double ratio : before ? met : unmet) {
      pairs.ratios.push_back(ratio);
      pairs.a_times_us.push_back(100 / ratio);
      pairs.b_times_us.push_back(100);
      pairs.met.push_back(before);
      pairs.b_met.push_back(false);
    }
  return pairs;
}

std::size_t left_of(const std::vector<double>& unmet, const std::vector<double>& met) {
  AbbaRatios pairs = pairs_of(unmet, met);
  EXPECT_TRUE(leave_out_remembered(pairs));
  EXPECT_EQ(pairs.a_times_us.size(), pairs.ratios.size());
  EXPECT_EQ(pairs.b_times_us.size(), pairs.ratios.size());
  EXPECT_EQ(pairs.met.size(), pairs.ratios.size());
  return pairs.ratios.size();
}

const std::vector<double> kUsual = {1, 1.1, 0.95, 1.02}, kFast = {50, 1, 60, 55, 40};

TEST(Remembered, WhatIsFasterOnSetsThatWereMetIsLeftOut) {
  AbbaRatios pairs = pairs_of(kUsual, kFast);
  EXPECT_TRUE(leave_out_remembered(pairs));
  EXPECT_EQ(pairs.ratios, kUsual);
  EXPECT_DOUBLE_EQ(pairs.a_times_us.front(), 100);
}

TEST(Remembered, WhatNoiseAndPlacementDoIsKept) {
  EXPECT_EQ(left_of(kUsual, {1.1, 1.15, 1.12}), 7U);
  EXPECT_EQ(left_of(kUsual, {0.5, 0.4}), 6U) << "slower";
}

TEST(Remembered, WhatScattersByItselfIsNoGain) {
  const std::vector<double> scattered = {0.7, 0.75, 0.8, 0.95, 1.05};
  EXPECT_EQ(left_of(scattered, {0.94, 0.95, 0.96}), 8U) << "19 % more, and within what the others hold";
  EXPECT_EQ(left_of(scattered, {1.1, 1.1, 1.1}), 5U);
  EXPECT_EQ(left_of({0.8, 0.8, 0.8, 0.8, 9}, {1.3, 1.3, 1.3}), 5U) << "one freak excuses half as much again";
}

TEST(Remembered, FewOthersSayLessAndNoneNothing) {
  EXPECT_EQ(left_of({1}, {1.3, 1.4}), 3U);
  EXPECT_EQ(left_of(kUsual, {}), kUsual.size());
  for (const std::vector<double>& unmet : {std::vector<double>{1}, {1, 1.1, 0.9}, {}}) {
    AbbaRatios pairs = pairs_of(unmet, kFast);
    EXPECT_FALSE(leave_out_remembered(pairs)) << "no score is made of " << unmet.size();
    EXPECT_EQ(pairs.ratios.size(), unmet.size() + kFast.size());
  }
}

TEST(Remembered, SingleCallsThatWereRememberedBoundNothing) {
  const auto lone_left = [](const std::vector<double>& unmet, const std::vector<double>& met) {
    AbbaRatios pairs = pairs_of(kUsual, kUsual);
    pairs.lone = pairs.shown = pairs_of(unmet, met);
    EXPECT_TRUE(leave_out_remembered(pairs));
    EXPECT_EQ(pairs.ratios.size(), 2 * kUsual.size()) << "its batches are its own";
    EXPECT_EQ(pairs.shown.ratios, pairs.lone.ratios);
    EXPECT_EQ(pairs.lone.met.size(), pairs.lone.ratios.size());
    return pairs.lone.ratios;
  };
  EXPECT_EQ(lone_left(kUsual, kFast), kUsual);
  EXPECT_EQ(lone_left({1}, kFast), std::vector<double>{1}) << "one is a bound";
  EXPECT_EQ(lone_left({}, kFast), kFast) << "nothing says that they were";
  EXPECT_EQ(lone_left(kUsual, {}), kUsual);
  EXPECT_EQ(lone_left(kUsual, {1.1, 1.15}).size(), kUsual.size() + 2);
}

TEST(Remembered, TheOtherSideIsSeenAlike) {
  AbbaRatios pairs = pairs_of(kUsual, {0.02, 0.01, 0.02});
  pairs.b_met = pairs.met;
  pairs.met.assign(pairs.met.size(), false);
  EXPECT_TRUE(leave_out_remembered(pairs));
  EXPECT_EQ(pairs.ratios.size(), 7U) << "slower is no gain of a's";
  AbbaRatios other = seen_from_b(pairs);
  EXPECT_TRUE(leave_out_remembered(other));
  EXPECT_EQ(other.ratios.size(), kUsual.size());
  EXPECT_DOUBLE_EQ(seen_from_b(other).ratios[1], kUsual[1]);
  EXPECT_EQ(other.a_times_us.front(), pairs.b_times_us.front());
}

}  // namespace
}  // namespace kernelsmith

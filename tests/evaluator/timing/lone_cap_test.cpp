#include "timing/lone_cap.hpp"

#include <cmath>

#include "testing.hpp"

namespace kernelsmith::timing {
namespace {

using Times = std::vector<double>;

/// Calls of `player_us` in batches and `player_lone_us` alone, beside a yardstick that takes 40 and 48.
double cap_of(double player_us, double player_lone_us, double noise_us = 0) {
  const Times player(8, player_lone_us), yardstick(8, 48.0);
  return lone_cap({player_us, 40, player, yardstick}, noise_us);
}

TEST(LoneCap, WhatIsAsFastAloneIsBelieved) {
  EXPECT_EQ(cap_of(40, 48), 1);
  EXPECT_EQ(cap_of(10, 18), 1) << "being alone costs both the same 8 us";
  EXPECT_EQ(cap_of(100, 108), 1);
}

TEST(LoneCap, WhatBatchesGainIsTakenBack) {
  // Alone it is as fast as the yardstick, in batches four times as fast.
  EXPECT_NEAR(10 / cap_of(10, 48), 40 / 1.03, 1e-9);
}

TEST(LoneCap, TheNoiseOfABatchIsGranted) {
  EXPECT_NEAR(10 / cap_of(10, 48, 8), (40 - 8 / std::sqrt(8.0)) / 1.03, 1e-9);
}

TEST(LoneCap, ScatterIsGrantedByItsInterval) {
  const Times player = {48, 40, 56, 44, 52, 48, 38, 58}, yardstick(8, 48.0);
  const double least = least_believable_us({10, 40, player, yardstick}, 0);
  EXPECT_GT(least, 30 / 1.03);
  EXPECT_LT(least, 34 / 1.03);
}

TEST(LoneCap, WithoutLoneSamplesThereIsNone) { EXPECT_EQ(lone_cap({10, 40, {}, {}}, 3), 1); }

TEST(LoneCap, LoneTimesBelowTheNoiseBoundNothing) {
  const Times player(8, 1.0), yardstick(8, 48.0);
  EXPECT_EQ(lone_cap({0.5, 3, player, yardstick}, 3), 1);
}

}  // namespace
}  // namespace kernelsmith::timing

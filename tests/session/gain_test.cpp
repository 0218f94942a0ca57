// A child's gain over its parent.
#include <gtest/gtest.h>

#include <kernelsmith/session/program_diff.hpp>

namespace kernelsmith {
namespace {

Report over_yardstick(double low, double median, double high) {
  Report report;
  Measurement speed = Measurement::exact(median);
  speed.low = low;
  speed.high = high;
  report.over_yardstick = speed;
  return report;
}

TEST(Gain, IsTheRatioWithTheWidestIntervalThatBothAllow) {
  const auto gain = gain_over(over_yardstick(1.5, 2, 2.5), over_yardstick(2.5, 3, 3.6)).value();
  EXPECT_DOUBLE_EQ(gain.median, 1.5);
  EXPECT_DOUBLE_EQ(gain.low, 1);
  EXPECT_DOUBLE_EQ(gain.high, 2.4);
}

TEST(Gain, IsNotMadeUp) {
  const Report measured = over_yardstick(1, 1, 1), rejected;
  EXPECT_FALSE(gain_over(rejected, measured));
  EXPECT_FALSE(gain_over(measured, rejected));
  EXPECT_FALSE(gain_over(over_yardstick(0, 1, 1), measured));
  EXPECT_FALSE(gain_over(measured, over_yardstick(-1, 1, 1)));
}

}  // namespace
}  // namespace kernelsmith

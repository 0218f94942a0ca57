// Machine or candidate: who scatters, and what becomes of the score.
#include "scatter.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

constexpr StoppingRule kRule{4, 12, 0.015, 0.7};

const std::vector<double> kSteady = {1, 1.01, 0.99, 1, 1.02, 1, 0.99, 1.01};
const std::vector<double> kWild = {0.2, 1.8, 0.3, 1.7, 0.25, 1.9, 0.2, 1.6};

Scatter scatter(const std::vector<double>& ratios, const std::vector<double>& yardstick) {
  return scatter_of(ratios, {{ratios, {}, yardstick}}, kRule);
}

TEST(Scatter, IsTheMachinesWhereTheYardstickSharesIt) {
  EXPECT_EQ(scatter(kWild, kWild), Scatter::of_the_machine);
  EXPECT_EQ(scatter(kWild, kSteady), Scatter::own);
  EXPECT_EQ(scatter(kSteady, kSteady), Scatter::none);
  EXPECT_EQ(scatter(kSteady, kWild), Scatter::none) << "a steady ratio is steady";
}

TEST(Scatter, OfWhatIsClearlyWorseDoesNotMatter) {
  EXPECT_EQ(scatter({0.1, 0.3, 0.1, 0.3, 0.1, 0.3, 0.1, 0.3}, kSteady), Scatter::none);
}

TEST(Scatter, OfEarlierMeasurementsIsNotTakenForTheMachines) {
  std::vector<double> all = kWild;
  all.insert(all.end(), kSteady.begin(), kSteady.end());
  all.insert(all.end(), kWild.begin(), kWild.end());
  EXPECT_NE(scatter_of(all, {kWild, {}, kSteady}, kRule), Scatter::of_the_machine);
}

TEST(Scatter, LeavesTheSlowEndToCount) {
  const Measurement ratio = low_end(kWild, "x");
  EXPECT_DOUBLE_EQ(ratio.median, 0.2);
  EXPECT_DOUBLE_EQ(ratio.low, 0.2);
  EXPECT_GT(ratio.high, 1.5) << "how fast it can be stays in the interval";
  const Measurement time = high_end(kWild, "us");
  EXPECT_DOUBLE_EQ(time.median, 1.9);
  EXPECT_DOUBLE_EQ(time.high, 1.9);
}

}  // namespace
}  // namespace kernelsmith

#include <cmath>
#include <numeric>

#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/evaluator/statistics.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

TEST(Median, IsTheMiddleWhateverTheOrder) {
  EXPECT_DOUBLE_EQ(median_of(std::vector<double>{5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median_of(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median_of(std::vector<double>{7}), 7);
}

/// The interval of 1, 2, ..., n: its ranks.
Measurement ranks(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return median_interval(values, "us");
}

// The whole ranks stand in every table of the distribution-free interval for the median. What is added to
// them falls short of the next one, whose interval covers too seldom.
TEST(MedianInterval, LiesBetweenTheBinomialRanks) {
  for (const std::size_t n : {1U, 2U, 5U}) {
    EXPECT_EQ(ranks(n).low, 1.0);
    EXPECT_EQ(ranks(n).high, static_cast<double>(n));
  }
  for (const auto& [n, k] : {std::pair(6U, 1.0), {9U, 2.0}, {20U, 6.0}, {100U, 40.0}, {512U, 234.0}}) {
    EXPECT_GE(ranks(n).low, k);
    EXPECT_LT(ranks(n).low, k + 1);
    EXPECT_NEAR(ranks(n).high, n + 1 - ranks(n).low, 1e-9);
  }
  // With eight values the outermost cover in 99.2 % and the next in 93.0 %.
  EXPECT_NEAR(ranks(8).low, 1.94, 0.01);
}

TEST(MedianInterval, CoversTheTrueMedianAsOftenAsItSays) {
  constexpr int kTrials = 4000;
  for (const std::size_t n : {6U, 8U, 10U, 12U, 15U, 33U}) {
    Rng random(1, 2, Purpose::evaluation);
    int normal = 0, lopsided = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(n);
      for (double& value : values) value = 10 + random.normal();
      const auto covers = [](const Measurement& m, double truth) {
        return m.low <= truth && truth <= m.high;
      };
      normal += covers(median_interval(values, "us"), 10) ? 1 : 0;
      for (double& value : values) value = std::exp(value);
      lopsided += covers(median_interval(values, "us"), std::exp(10.0)) ? 1 : 0;
    }
    for (const int covered : {normal, lopsided}) {
      EXPECT_GE(covered, kTrials * 94 / 100) << n;
      EXPECT_LE(covered, kTrials * 97 / 100) << n;
    }
  }
}

TEST(MedianInterval, IsMovedLittleByOutliers) {
  std::vector<double> values(20, 10.0);
  for (std::size_t i = 0; i < 4; ++i) values[i] = 1000;
  const Measurement m = median_interval(values, "us");
  EXPECT_DOUBLE_EQ(m.median, 10);
  EXPECT_DOUBLE_EQ(m.high, 10);
}

TEST(Floor, IsAddedInQuadratureAndNeverNarrows) {
  const Measurement exact = with_floor(Measurement::exact(2, "x"), 0.005);
  EXPECT_DOUBLE_EQ(exact.low, 2 * 0.995);
  EXPECT_DOUBLE_EQ(exact.high, 2 * 1.005);
  const Measurement wide = with_floor({100, 97, 104, 9, "x"}, 0.04);
  EXPECT_DOUBLE_EQ(wide.low, 95);
  EXPECT_NEAR(wide.high, 100 * (1 + std::hypot(0.04, 0.04)), 1e-9);
}

TEST(Combining, MultipliesAndDividesWithTheirNoise) {
  const Measurement a{2, 1.94, 2.06, 8, "x"}, b{4, 3.84, 4.16, 9, "x"};
  EXPECT_DOUBLE_EQ(product(a, b, "x").median, 8);
  EXPECT_NEAR(product(a, b, "x").low, 8 * 0.95, 1e-9);
  EXPECT_DOUBLE_EQ(quotient(a, b, "x").median, 0.5);
  EXPECT_NEAR(quotient(a, b, "x").high, 0.5 * 1.05, 1e-9);
}

TEST(Combining, TakesTheGeometricMean) {
  const std::vector<Measurement> parts = {Measurement::exact(2, "x"), Measurement::exact(8, "x")};
  EXPECT_DOUBLE_EQ(geometric_mean(parts, "x").median, 4);
  const std::vector<Measurement> noisy = {{1, 0.9, 1.1, 5, "x"}, {1, 0.9, 1.1, 5, "x"}};
  const Measurement mean = geometric_mean(noisy, "x");
  EXPECT_NEAR(mean.high - 1, 0.1 / std::sqrt(2.0), 1e-9);
  EXPECT_EQ(mean.samples, 10U);
}

TEST(Combining, WeighsTheGeometricMean) {
  const std::vector<Measurement> parts = {{2, 1.8, 2.2, 5, "x"}, {8, 8 * 0.8, 8 * 1.2, 5, "x"}};
  const Measurement mean = geometric_mean(parts, "x", std::vector{0.75, 0.25});
  EXPECT_NEAR(mean.median, std::pow(2, 0.75) * std::pow(8, 0.25), 1e-12);
  EXPECT_NEAR(mean.high, mean.median * (1 + std::hypot(0.75 * 0.1, 0.25 * 0.2)), 1e-9);
  EXPECT_NEAR(mean.low, mean.median * (1 - std::hypot(0.75 * 0.1, 0.25 * 0.2)), 1e-9);
  const Measurement equal = geometric_mean(parts, "x", std::vector{0.5, 0.5});
  EXPECT_NEAR(equal.median, geometric_mean(parts, "x").median, 1e-12);
  EXPECT_NEAR(equal.high, geometric_mean(parts, "x").high, 1e-12);
}

}  // namespace
}  // namespace kernelsmith

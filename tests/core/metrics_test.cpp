#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {
namespace {

TEST(Metrics, TakesOnlyFiniteNumbers) {
  EXPECT_TRUE(Metrics::create(Measurement::exact(1.5), {{"complexity", 3}}));
  EXPECT_FALSE(Metrics::create(Measurement::exact(std::nan(""))));
  EXPECT_FALSE(Metrics::create(Measurement::exact(1), {{"x", std::numeric_limits<double>::infinity()}}));
}

TEST(Metrics, TakesOnlyIntervalsThatHoldTheirMedian) {
  EXPECT_FALSE(Metrics::create({.median = 3, .low = 1, .high = 2, .samples = 5, .unit = "x"}));
}

TEST(Compare, SeparatedIntervalsDecide) {
  const Measurement slow{1.0, 0.9, 1.1, 9, "x"};
  const Measurement fast{1.3, 1.2, 1.4, 9, "x"};
  EXPECT_EQ(compare(fast, slow), Comparison::better);
  EXPECT_EQ(compare(slow, fast), Comparison::worse);
}

TEST(Compare, OverlapAsksForMore) {
  EXPECT_EQ(compare({1.1, 1.0, 1.2, 9, "x"}, {1.0, 0.9, 1.1, 9, "x"}), Comparison::ambiguous);
}

TEST(Compare, EqualExactNumbersKeepTheIncumbent) {
  EXPECT_EQ(compare(Measurement::exact(2), Measurement::exact(2)), Comparison::worse);
}

}  // namespace
}  // namespace kernelsmith

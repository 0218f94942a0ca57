#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <kernelsmith/core/evaluation.hpp>
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

Evaluation measured_at(std::vector<std::string> shapes, double fitness) {
  Report report;
  report.speedup = Measurement{fitness, fitness, fitness, 10, "x"};
  for (std::string& shape : shapes) {
    report.shapes.push_back({});
    report.shapes.back().shape = std::move(shape);
    report.shapes.back().timed = true;
  }
  return Acceptance{Metrics::create(Measurement{fitness, fitness, fitness, 10, "x"}, {}).value(), report};
}

TEST(Pooled, EvaluationsAtTheSameShapesAreOneMeasurement) {
  const Evaluation both = pooled(measured_at({"a", "b"}, 2), measured_at({"a", "b"}, 4));
  EXPECT_DOUBLE_EQ(both.metrics()->fitness().median, 3);
  EXPECT_EQ(both.report().speedup->samples, 20U);
}

TEST(Pooled, TheOneWithMoreShapesReplacesTheOther) {
  const Evaluation searched = measured_at({"a", "b"}, 3), confirmed = measured_at({"a", "b", "c"}, 1.5);
  EXPECT_DOUBLE_EQ(pooled(searched, confirmed).metrics()->fitness().median, 1.5);
  EXPECT_DOUBLE_EQ(pooled(confirmed, searched).metrics()->fitness().median, 1.5);
  EXPECT_DOUBLE_EQ(pooled(confirmed, searched).report().speedup->median, 1.5);
}

}  // namespace
}  // namespace kernelsmith

// What score a candidate gets.
#include <cmath>

#include "fake_host.hpp"

namespace kernelsmith::fake {
namespace {

Report report_of(const Result<Evaluation>& evaluation) { return accepted(evaluation).report(); }

double fitness_of(const Result<Evaluation>& evaluation) {
  return accepted(evaluation).metrics()->fitness().median;
}

/// Takes `cold_us` more in a batch's first call, and does `at_once` calls in the time of one.
KernelPtr batching(double call_us, double cold_us, double at_once = 1) {
  auto made = kernel();
  made->run = [=](const Call& call) -> Judged<double> {
    const double calls = std::ceil(static_cast<double>(call.calls) / at_once);
    return calls * call_us + cold_us;
  };
  return made;
}

TEST(Score, LikeWithLikeIsOne) {
  Bench bench;
  const auto evaluation = bench.evaluate(kernel(1000));
  const Report report = report_of(evaluation);
  EXPECT_DOUBLE_EQ(report.over_yardstick->median, 1);
  EXPECT_DOUBLE_EQ(report.over_yardstick->low, 1 - 0.015);
  EXPECT_DOUBLE_EQ(report.over_yardstick->high, 1 + 0.015);
  EXPECT_DOUBLE_EQ(fitness_of(evaluation), 1);
  EXPECT_DOUBLE_EQ(report.runtime_us->median, 1000);
  EXPECT_EQ(report.over_yardstick->samples, 8U);
}

TEST(Score, LikeWithLikeIsOneForShortCallsToo) {
  Bench bench;
  bench.baseline = batching(25, 8);
  bench.sets = 256;
  EXPECT_NEAR(report_of(bench.evaluate(batching(25, 8))).over_yardstick->median, 1, 1e-9);
}

TEST(Score, TwiceAsFastIsTwo) {
  Bench bench;
  const auto evaluation = bench.evaluate(kernel(500));
  const Report report = report_of(evaluation);
  EXPECT_DOUBLE_EQ(report.over_yardstick->median, 2);
  EXPECT_DOUBLE_EQ(fitness_of(evaluation), 2);
  EXPECT_DOUBLE_EQ(report.shapes[0].speedup->median, 2);
  EXPECT_NEAR(report.speedup->low, 2 * (1 - std::hypot(0.06, 0.015)), 1e-9) << "against the baseline";
  EXPECT_EQ(evaluation->metrics()->features().at("runtime_us"), report.runtime_us->median);
}

TEST(Score, TheBaselineIsTheScale) {
  Bench bench;
  bench.baseline = kernel(4000, "baseline");
  bench.seed = kernel(1000, "seed");
  const auto evaluation = bench.evaluate(kernel(500));
  EXPECT_DOUBLE_EQ(report_of(evaluation).over_yardstick->median, 2);
  EXPECT_DOUBLE_EQ(report_of(evaluation).speedup->median, 8);
  EXPECT_DOUBLE_EQ(fitness_of(evaluation), 8);
}

TEST(Score, IsTheGeometricMeanOverTheShapes) {
  Bench bench;
  bench.task = task(2);
  auto candidate = kernel();
  candidate->call_us = [](const Call& call) { return call.shape == 0 ? 250.0 : 1000.0; };
  const Report report = report_of(bench.evaluate(candidate));
  EXPECT_DOUBLE_EQ(report.over_yardstick->median, 2);
  EXPECT_DOUBLE_EQ(report.shapes[0].speedup->median, 4);
  EXPECT_DOUBLE_EQ(report.shapes[1].speedup->median, 1);
}

TEST(Score, CountsTheShapesByTheirWeights) {
  Bench bench;
  bench.task = task(2);
  bench.task.timed_weights = {0.75, 0.25};
  bench.baseline = kernel(4000, "baseline");
  bench.baseline->call_us = [](const Call& call) { return call.shape == 0 ? 1000.0 : 4000.0; };
  bench.seed = kernel(1000, "seed");
  auto candidate = kernel();
  candidate->call_us = [](const Call& call) { return call.shape == 0 ? 250.0 : 1000.0; };
  const auto evaluation = bench.evaluate(candidate);
  const Report report = report_of(evaluation);
  const double ratio = std::pow(4, 0.75), scale = std::pow(4, 0.25);
  EXPECT_NEAR(report.over_yardstick->median, ratio, 1e-9);
  EXPECT_NEAR(report.speedup->median, ratio * scale, 1e-9);
  EXPECT_NEAR(fitness_of(evaluation), ratio * scale, 1e-9);
  EXPECT_NEAR(report.runtime_us->median, std::pow(250, 0.75) * std::pow(1000, 0.25), 1e-6);
  EXPECT_NEAR(report.over_yardstick->low, ratio * (1 - 0.015), 1e-9) << "floors do not average out";
  EXPECT_EQ(report.shapes[0].weight, 0.75);
  EXPECT_EQ(report.shapes[1].weight, 0.25);
  EXPECT_EQ(report.shapes[2].weight, std::nullopt) << "is only checked";
}

TEST(Score, ACandidateThatScattersHasALowLowEnd) {
  Bench bench;
  auto candidate = kernel();
  candidate->call_us = [](const Call& call) { return call.batch % 2 == 0 ? 500.0 : 1000.0; };
  const auto evaluation = bench.evaluate(candidate);
  EXPECT_LT(evaluation->metrics()->fitness().low, 1) << "half of its calls are no faster";
  EXPECT_DOUBLE_EQ(fitness_of(evaluation), 1.5) << "a median is a median";
  EXPECT_DOUBLE_EQ(report_of(evaluation).over_yardstick->median, 1.5);
}

TEST(Score, ThereIsNoneWhereTheYardstickScatters) {
  Bench bench;
  ASSERT_TRUE(bench.create());
  bench.baseline->call_us = [](const Call& call) { return call.batch % 2 == 0 ? 400.0 : 1000.0; };
  EXPECT_EQ(bench.evaluate(kernel(1000)).error().code, ErrorCode::unstable);
}

TEST(Score, AMachineThatSlowsBothDownIsSteadyEnough) {
  Bench bench;
  ASSERT_TRUE(bench.create());
  const auto slow_in_one_round = [](const Call& call) { return call.place == 1 ? 1700.0 : 1000.0; };
  auto candidate = kernel();
  candidate->call_us = slow_in_one_round;
  bench.baseline->call_us = [](const Call& call) { return call.place == 0 ? 1700.0 : 1000.0; };
  EXPECT_DOUBLE_EQ(report_of(bench.evaluate(candidate)).over_yardstick->median, 1);
}

TEST(Score, ALuckyPlaceFavoursNobody) {
  Bench bench;
  const auto lucky = [](const Call& call) { return call.place == 0 ? 900.0 : 1000.0; };
  auto candidate = kernel();
  candidate->call_us = bench.baseline->call_us = lucky;
  const Measurement ratio = *report_of(bench.evaluate(candidate)).over_yardstick;
  EXPECT_NEAR(ratio.median, 1, 0.01);
  EXPECT_LT(ratio.low, 0.9 + 0.01) << "and the interval tells";
}

class OfSeveralCalls : public ::testing::TestWithParam<double> {};

// The batch's gain is capped by what lone calls take, to within a tenth from 20 us on.
TEST_P(OfSeveralCalls, WorkOnEightAtOnceGainsLessThanATenth) {
  Bench bench;
  bench.sets = 256;
  bench.baseline = batching(GetParam(), 5);
  const Report report = report_of(bench.evaluate(batching(GetParam(), 5, 8)));
  EXPECT_LT(report.over_yardstick->median, 1.1);
  EXPECT_FALSE(report.shapes[0].short_call);
}

TEST_P(OfSeveralCalls, AnHonestFastKernelIsNotCut) {
  Bench bench;
  bench.sets = 256;
  constexpr double kCold = 8;
  bench.baseline = batching(GetParam(), kCold);
  const double ratio = report_of(bench.evaluate(batching(GetParam() / 3, kCold))).over_yardstick->median;
  EXPECT_GT(ratio, (GetParam() + kCold) / (GetParam() / 3 + kCold) - 1e-9) << "as of lone calls";
  EXPECT_LT(ratio, 3);
}

INSTANTIATE_TEST_SUITE_P(From20Us, OfSeveralCalls, ::testing::Values(21, 30, 50, 100, 200));

TEST(Score, ShortCallsAreMarkedAndHaveAWiderInterval) {
  Bench bench;
  bench.sets = 256;
  bench.baseline = kernel(10);
  const Report report = report_of(bench.evaluate(kernel(10)));
  EXPECT_TRUE(report.shapes[0].short_call);
  EXPECT_DOUBLE_EQ(report.over_yardstick->low, 1 - 0.05);
  bench.judge.reset();
  bench.baseline = kernel(30);
  EXPECT_FALSE(report_of(bench.evaluate(kernel(1))).shapes[0].short_call) << "the yardstick's calls count";
}

TEST(Score, MeasurementsOfTheSameBytesArePooled) {
  Bench bench;
  EXPECT_EQ(report_of(bench.evaluate(kernel(1000, "a"))).over_yardstick->samples, 8U);
  EXPECT_EQ(report_of(bench.evaluate(kernel(1000, "b"))).over_yardstick->samples, 8U);
  EXPECT_EQ(report_of(bench.evaluate(kernel(500, "a"))).over_yardstick->samples, 16U);
  EXPECT_DOUBLE_EQ(report_of(bench.evaluate(kernel(1000, "a"))).over_yardstick->median, 1) << "24 samples";
  EXPECT_EQ(report_of(bench.evaluate(kernel(1000))).over_yardstick->samples, 8U) << "no digest, no pool";
  RunRequest confirmation = bench.search(kernel(500, "a"));
  confirmation.remeasurement = Remeasurement::confirm;
  const Report again = report_of(bench.evaluate(confirmation));
  EXPECT_DOUBLE_EQ(again.over_yardstick->median, 2) << "its own samples are the figure";
}

TEST(Score, ATaskWhoseOutputNoInputMovesIsDegenerate) {
  const auto is_degenerate = [](double factor) {
    Bench bench;
    bench.factor = factor;
    return accepted(bench.evaluate(kernel())).metrics()->features().contains("degenerate");
  };
  EXPECT_FALSE(is_degenerate(2));
  EXPECT_TRUE(is_degenerate(0));
}

TEST(Score, AnUnstableMeasurementIsNotPooled) {
  Bench bench;
  ASSERT_TRUE(bench.create());
  const auto steady = bench.baseline->call_us;
  bench.baseline->call_us = [](const Call& call) { return call.batch % 2 == 0 ? 400.0 : 1000.0; };
  EXPECT_FALSE(bench.evaluate(kernel(1000, "a")));
  bench.baseline->call_us = steady;
  EXPECT_EQ(report_of(bench.evaluate(kernel(1000, "a"))).over_yardstick->samples, 8U);
}

}  // namespace
}  // namespace kernelsmith::fake

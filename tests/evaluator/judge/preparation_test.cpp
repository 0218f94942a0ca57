// What a judge refuses before it sees a candidate: references, seeds and yardsticks that fail.
#include "fake_host.hpp"

namespace kernelsmith::fake {
namespace {

KernelPtr wrong_kernel() {
  auto made = kernel();
  made->compare = [](const Call&) { return finds(Fault::wrong); };
  return made;
}

TEST(Preparation, AReferenceThatFailsItsOwnCheckIsRefused) {
  Bench bench;
  bench.baseline = wrong_kernel();
  const Error error = bench.create().error();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(
      error.message,
      HasSubstr("the task's reference, as it is written, fails its own check (wrong_output): output 'y'"));
  EXPECT_EQ(error.where, "files: reference");
  EXPECT_THAT(error.hint, HasSubstr("tolerance: {policy: allclose"));
}

TEST(Preparation, ABaselineOfItsOwnIsNamedSo) {
  Bench bench;
  bench.task.baseline = Source::create({{"baseline.cpp", "b"}}).value();
  bench.baseline = wrong_kernel();
  EXPECT_EQ(bench.create().error().where, "files: baseline");
}

TEST(Preparation, ABadSeedIsRefused) {
  Bench bench;
  bench.seed = kernel();
  bench.seed->run = [](const Call&) -> Judged<double> {
    return reject(Stage::run, RejectionCode::crashed, "signal 11");
  };
  const Error error = bench.create().error();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_EQ(error.message, "the task's seed fails its own check (crashed): at n=7: signal 11");
  EXPECT_EQ(error.hint, "");
}

TEST(Preparation, ACrashNamesTheUsualCausesThatTheTaskCanHave) {
  Bench bench;
  bench.task.sizes["m"] = 1;
  bench.task.size_order = {"n", "m"};
  bench.task.timed = {{{"n", 64}, {"m", 1}}};
  bench.task.check = {{{"n", 7}, {"m", 1}}};
  TensorSpec at = bench.task.tensors[0];
  at.name = "at";
  at.dtype = Dtype::i32;
  bench.task.tensors.push_back(at);
  bench.baseline->run = [](const Call&) -> Judged<double> {
    return reject(Stage::run, RejectionCode::crashed, "signal 11");
  };
  EXPECT_THAT(
      bench.create().error().message,
      HasSubstr("signal 11\nusual causes: sizes that are taken in another order than task.yaml's (n, m); "
                "an index without its range in task.yaml (at: init: {low: 0, high: ...})"));
}

TEST(Preparation, ABadYardstickIsRefused) {
  Bench bench;
  bench.yardstick = wrong_kernel();
  EXPECT_EQ(bench.create().error().where, "files: yardstick");
}

TEST(Preparation, AnErrorOfTheMachineIsNoRefusal) {
  Bench bench;
  bench.baseline->open = [](std::size_t) -> Judged<void> {
    return Failure(fail(ErrorCode::tool_missing, "no sandbox"));
  };
  EXPECT_EQ(bench.create().error().code, ErrorCode::tool_missing);
}

TEST(Preparation, AStopBeforeItLeavesEveryKernelAlone) {
  std::stop_source stop;
  stop.request_stop();
  for (const bool drawn : {false, true}) {
    Bench bench;
    if (drawn)
      bench.draw_bank = [] { return Result<Bank>(Bank{Bank::value_type(64), Bank::value_type(64)}); };
    EXPECT_EQ(bench.create(stop.get_token()).error().code, ErrorCode::cancelled);
    EXPECT_EQ(bench.baseline->sessions, 0U);
  }
}

TEST(Preparation, AStopEndsItBetweenTwoBatches) {
  Bench bench;
  std::stop_source stop;
  bench.baseline->run = [&](const Call&) {
    stop.request_stop();
    return Judged<double>(1000.0);
  };
  EXPECT_EQ(bench.create(stop.get_token()).error().code, ErrorCode::cancelled);
  EXPECT_EQ(bench.baseline->batches, 1U);
}

TEST(Preparation, WithThreadsTheReferenceMustRepeatItself) {
  Bench bench;
  bench.task.threads = 2;
  bench.baseline->outputs = [](const Call& call) { return std::to_string(call.session); };
  EXPECT_THAT(bench.create().error().message, HasSubstr("(nondeterministic)"));
}

TEST(Preparation, TheBaselineIsMeasuredWithCare) {
  Bench bench;
  bench.seed = kernel(500, "seed");
  bench.baseline = kernel(2000, "baseline");
  ASSERT_TRUE(bench.create());
  EXPECT_GE(bench.baseline->batches, 16U + 2U);
  EXPECT_TRUE(bench.host->taken.empty());
  const auto evaluation = bench.evaluate(kernel(500));
  EXPECT_DOUBLE_EQ(evaluation->report().speedup->median, 4);
}

TEST(Preparation, TheSameBinaryNeedsNoMeasurement) {
  Bench bench;
  bench.seed = kernel(1000, "baseline");
  bench.baseline = kernel(1001, "baseline");
  ASSERT_TRUE(bench.create());
  EXPECT_LT(bench.baseline->batches, 10U);
  EXPECT_DOUBLE_EQ(bench.evaluate(kernel(1000))->report().speedup->median, 1);
}

}  // namespace
}  // namespace kernelsmith::fake

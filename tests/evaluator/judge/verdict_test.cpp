// Every rejection code of docs/errors.md that a judge can give, and the errors.
#include <kernelsmith/evaluator/call_limit.hpp>

#include "fake_host.hpp"

namespace kernelsmith::fake {
namespace {

/// Right until its `first` batch at the shape, and then what `findings` say.
KernelPtr wrong_from(std::size_t shape, std::size_t first, const Findings& findings) {
  auto made = kernel();
  made->compare = [=, seen = std::size_t{0}](const Call& call) mutable {
    if (call.shape != shape) return Findings{};
    return seen++ >= first ? findings : Findings{};
  };
  return made;
}

constexpr std::size_t kTimed = 0, kChecked = 1;

struct CodeOfSession {
  Stage stage;
  RejectionCode code;
};

class FromTheSession : public ::testing::TestWithParam<CodeOfSession> {};

TEST_P(FromTheSession, ARejectionOfACallIsToldWithItsShape) {
  Bench bench;
  auto candidate = kernel();
  candidate->run = [](const Call&) -> Judged<double> {
    return reject(GetParam().stage, GetParam().code, "the session's words");
  };
  const Rejection rejection = rejection_of(bench.evaluate(candidate));
  EXPECT_EQ(rejection.stage, GetParam().stage);
  EXPECT_EQ(rejection.code, GetParam().code);
  EXPECT_EQ(rejection.diagnostics, "at n=7: the session's words");
  EXPECT_EQ(rejection.report.shapes[kChecked].correct, false);
  EXPECT_EQ(rejection.report.shapes[kTimed].correct, std::nullopt) << "was not reached";
}

INSTANTIATE_TEST_SUITE_P(All, FromTheSession,
                         ::testing::Values(CodeOfSession{Stage::run, RejectionCode::crashed},
                                           CodeOfSession{Stage::run, RejectionCode::exited},
                                           CodeOfSession{Stage::run, RejectionCode::timed_out},
                                           CodeOfSession{Stage::run, RejectionCode::out_of_memory},
                                           CodeOfSession{Stage::integrity, RejectionCode::input_modified},
                                           CodeOfSession{Stage::integrity, RejectionCode::background_work},
                                           CodeOfSession{Stage::integrity, RejectionCode::protocol_forged},
                                           CodeOfSession{Stage::integrity, RejectionCode::sandbox_violation}),
                         [](const auto& instance) { return std::string(name_of(instance.param.code)); });

TEST(Verdict, ABinaryThatCannotBeLoadedIsRejected) {
  Bench bench;
  auto candidate = kernel();
  candidate->open = [](std::size_t) -> Judged<void> {
    return reject(Stage::run, RejectionCode::load_failed, "no such symbol");
  };
  EXPECT_EQ(rejection_of(bench.evaluate(candidate)).code, RejectionCode::load_failed);
}

TEST(Verdict, OtherFaultsOfOutputsHaveCodesOfTheirOwn) {
  Bench bench;
  EXPECT_EQ(rejection_of(bench.evaluate(wrong_from(kTimed, 5, finds(Fault::not_written)))).code,
            RejectionCode::output_not_written);
  EXPECT_EQ(rejection_of(bench.evaluate(wrong_from(kChecked, 0, finds(Fault::not_finite)))).code,
            RejectionCode::not_finite);
}

TEST(Verdict, AWrongOutputOfTheCheckIsToldWithValues) {
  Bench bench;
  for (const std::size_t shape : {kChecked, kTimed}) {
    const Rejection rejection = rejection_of(bench.evaluate(wrong_from(shape, 0, finds(Fault::wrong))));
    EXPECT_EQ(rejection.stage, Stage::correctness);
    EXPECT_EQ(rejection.code, RejectionCode::wrong_output);
    EXPECT_THAT(rejection.diagnostics, AllOf(HasSubstr("output 'y' at n="), HasSubstr("element 3: expected "),
                                             HasSubstr("got 7.5"), HasSubstr("allowed error")));
    EXPECT_EQ(rejection.report.shapes[shape].correct, false);
    EXPECT_EQ(rejection.report.shapes[shape].error, 12);
  }
}

TEST(Verdict, AWrongOutputOfATimedCallIsToldWithoutValues) {
  Bench bench;
  const Rejection rejection = rejection_of(bench.evaluate(wrong_from(kTimed, 4, finds(Fault::wrong))));
  EXPECT_EQ(rejection.code, RejectionCode::wrong_output);
  EXPECT_THAT(rejection.diagnostics, AllOf(HasSubstr("element 3"), Not(HasSubstr("expected"))));
  EXPECT_THAT(rejection.diagnostics, Not(HasSubstr("7.5")));
  EXPECT_EQ(rejection.report.shapes[kTimed].correct, false);
}

TEST(Verdict, WritingBesideAnOutputIsOutOfBounds) {
  Bench bench;
  Findings::Wrong wrong;
  wrong.tensor = 1;
  wrong.beside = true;
  const Rejection rejection = rejection_of(bench.evaluate(wrong_from(kChecked, 0, {wrong, 0})));
  EXPECT_EQ(rejection.stage, Stage::integrity);
  EXPECT_EQ(rejection.code, RejectionCode::out_of_bounds);
}

KernelPtr differing_by_session() {
  auto made = kernel();
  made->outputs = [](const Call& call) { return std::to_string(call.session); };
  return made;
}

TEST(Verdict, AConfirmationComparesASecondProcessesOutputs) {
  Bench bench;
  EXPECT_TRUE(bench.evaluate(differing_by_session())->accepted()) << "a search does not look";
  const Rejection rejection = rejection_of(bench.evaluate(Bench::confirmation(differing_by_session())));
  EXPECT_EQ(rejection.stage, Stage::correctness);
  EXPECT_EQ(rejection.code, RejectionCode::nondeterministic);
  EXPECT_TRUE(bench.evaluate(Bench::confirmation(kernel()))->accepted());
}

TEST(Verdict, WithThreadsEveryEvaluationDoes) {
  Bench bench;
  bench.task.threads = 2;
  EXPECT_EQ(rejection_of(bench.evaluate(differing_by_session())).code, RejectionCode::nondeterministic);
}

TEST(Verdict, ATaskCanAllowChance) {
  Bench bench;
  bench.task.threads = 2;
  bench.task.nondeterministic = true;
  EXPECT_TRUE(bench.evaluate(differing_by_session())->accepted());
}

TEST(Verdict, ACallAThousandTimesAsLongAsTheYardsticksIsTooSlow) {
  Bench bench;
  bench.baseline = kernel(200, "baseline");
  const Rejection rejection = rejection_of(bench.evaluate(kernel(250e3)));
  EXPECT_EQ(rejection.stage, Stage::timing);
  EXPECT_EQ(rejection.code, RejectionCode::too_slow);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("a call at n=64 takes 250 ms, 1250 times as long"));
  EXPECT_TRUE(bench.evaluate(kernel(150e3))->accepted()) << "slow, not hopeless";
}

TEST(Verdict, TheFirstCallMayMakeTables) {
  Bench bench;
  bench.baseline = kernel(50, "baseline");
  auto candidate = kernel();
  candidate->call_us = [](const Call& call) { return call.batch == 2 ? 400e3 : 50.0; };
  EXPECT_TRUE(bench.evaluate(candidate)->accepted());
}

TEST(Verdict, LoadsAndCallsBeyondTheAllowanceAreTooSlow) {
  Bench bench;
  bench.task.timeout_s = 4;
  bench.baseline = kernel(3e6, "baseline");
  const Rejection rejection = rejection_of(bench.evaluate(kernel(3e6)));
  EXPECT_EQ(rejection.code, RejectionCode::too_slow);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("took 30 s in all"));
}

TEST(Verdict, ABatchGetsWhatIsLeftOfTheAllowance) {
  Bench bench;
  bench.task.timeout_s = 15;
  bench.baseline = kernel(14e6, "baseline");
  auto candidate = kernel(14e6);
  EXPECT_EQ(rejection_of(bench.evaluate(candidate)).code, RejectionCode::too_slow);
  const auto batches = bench.batches(candidate, kChecked);
  EXPECT_EQ(batches.front().timeout_s, 15);
  EXPECT_LT(bench.batches(candidate, kTimed).back().timeout_s, 4);
}

TEST(Verdict, ATimeLimitAtTheEndOfTheAllowanceIsTooSlow) {
  Bench bench;
  auto candidate = kernel();
  candidate->run = [&](const Call& call) -> Judged<double> {
    if (call.batch == 0) return 15e6;
    bench.host->now_s += 15;
    return reject(Stage::run, RejectionCode::timed_out, "no answer");
  };
  EXPECT_EQ(rejection_of(bench.evaluate(candidate)).code, RejectionCode::too_slow);
}

/// A device that others wait for, beside a yardstick that takes so long.
Bench shared_bench(double yardstick_us) {
  Bench bench;
  bench.task.timeout_s = kGpuTimeoutS;
  bench.host->has.over_yardstick = kOverYardstick;
  bench.baseline = kernel(yardstick_us, "baseline");
  return bench;
}

TEST(Verdict, ACallMayTakeAHundredTimesWhatTheYardsticksTakes) {
  for (const auto& [yardstick_us, limit_s] : {std::pair{50.0, 2.0}, {20e3, 2.0}, {50e3, 5.0}}) {
    Bench bench = shared_bench(yardstick_us);
    auto candidate = kernel(yardstick_us);
    EXPECT_TRUE(bench.evaluate(candidate)->accepted());
    EXPECT_EQ(bench.batches(candidate, kChecked).front().timeout_s, limit_s);
    EXPECT_EQ(bench.batches(candidate, kTimed).back().timeout_s, limit_s);
    EXPECT_EQ(bench.host->call_limits_s.back(), limit_s) << "what loading calls may take";
  }
}

TEST(Verdict, ATaskCanRaiseWhatACallMayTake) {
  Bench bench = shared_bench(50);
  bench.task.timeout_s = 30;
  auto candidate = kernel(50);
  EXPECT_TRUE(bench.evaluate(candidate)->accepted());
  EXPECT_EQ(bench.batches(candidate, kChecked).front().timeout_s, 30);
}

TEST(Verdict, TheTasksOwnKernelsMayTakeLongBeforeTheirTimeIsKnown) {
  Bench bench = shared_bench(5e6);
  ASSERT_TRUE(bench.create());
  EXPECT_EQ(bench.host->call_limits_s, (std::vector<double>{60, 500}));
}

TEST(Verdict, WhatTakesTooLongIsToldTheLimitAndTheYardsticksTime) {
  Bench bench = shared_bench(130);
  auto hangs = kernel();
  hangs->run = [](const Call&) -> Judged<double> {
    return reject(Stage::run, RejectionCode::timed_out, "no answer");
  };
  auto hangs_when_loaded = kernel();
  hangs_when_loaded->open = [](std::size_t) -> Judged<void> {
    return reject(Stage::run, RejectionCode::timed_out, "no answer");
  };
  for (const KernelPtr& candidate : {hangs, hangs_when_loaded}) {
    const Rejection rejection = rejection_of(bench.evaluate(candidate));
    EXPECT_EQ(rejection.stage, Stage::run);
    EXPECT_EQ(rejection.code, RejectionCode::timed_out);
    EXPECT_THAT(rejection.diagnostics,
                HasSubstr("no answer (a call may take 2 s: the task's timeout_s, or 100 times as long as the "
                          "yardstick's, which takes 130 us, if that is more)"));
  }
}

TEST(Verdict, FasterThanMemoryIsImplausible) {
  Bench bench;
  bench.host->least_us_at[kTimed] = 500;
  EXPECT_TRUE(bench.evaluate(kernel(600))->accepted());
  const Rejection rejection = rejection_of(bench.evaluate(kernel(400)));
  EXPECT_EQ(rejection.stage, Stage::integrity);
  EXPECT_EQ(rejection.code, RejectionCode::implausible_speed);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("declared: {bytes: ...}"));
}

TEST(Verdict, ABoundThatTheYardstickBreaksIsNone) {
  Bench bench;
  bench.host->least_us_at[kTimed] = 2000;
  EXPECT_TRUE(bench.evaluate(kernel(400))->accepted());
}

TEST(Verdict, AStopEndsTheEvaluation) {
  Bench bench;
  ASSERT_TRUE(bench.create());
  std::stop_source stop;
  auto candidate = kernel();
  candidate->call_us = [&](const Call& call) {
    if (call.batch == 6) stop.request_stop();
    return 1000.0;
  };
  EXPECT_EQ(bench.evaluate(Bench::search(candidate), stop.get_token()).error().code, ErrorCode::cancelled);
  EXPECT_EQ(candidate->batches, 7U) << "no batch begins after it";
  EXPECT_TRUE(bench.host->taken.empty()) << "sessions are closed";
}

TEST(Verdict, AnErrorOfTheMachineIsNoRejection) {
  Bench bench;
  auto candidate = kernel();
  candidate->run = [](const Call&) -> Judged<double> {
    return Failure(fail(ErrorCode::io, "no memory file"));
  };
  EXPECT_EQ(bench.evaluate(candidate).error().code, ErrorCode::io);
}

TEST(Verdict, AYardstickThatFailsIsNotTheCandidatesFault) {
  Bench bench;
  ASSERT_TRUE(bench.create());
  bench.baseline->run = [](const Call&) -> Judged<double> {
    return reject(Stage::run, RejectionCode::crashed, "signal 11");
  };
  const Error error = bench.evaluate(kernel()).error();
  EXPECT_EQ(error.code, ErrorCode::tool_failed);
  EXPECT_THAT(error.message, HasSubstr("signal 11"));
}

TEST(Verdict, TheReportSaysWhatWasDoneWhere) {
  Bench bench;
  auto request = Bench::search(kernel());
  request.report.toolchain = "cc";
  const Report report = accepted(bench.evaluate(request)).report();
  EXPECT_EQ(report.tier, "full");
  EXPECT_EQ(report.hardware, "a fake device");
  EXPECT_EQ(report.toolchain, "cc");
  for (const char* const step : {"check", "timing", "candidate: load", "yardstick: load"})
    EXPECT_GT(report.spent_ms.at(step), 0) << step;
  EXPECT_EQ(report.shapes[kTimed].shape, "n=64");
  EXPECT_TRUE(report.shapes[kTimed].timed);
  EXPECT_EQ(report.shapes[kChecked].correct, true);
  EXPECT_EQ(report.shapes[kChecked].speedup, std::nullopt);
}

}  // namespace
}  // namespace kernelsmith::fake

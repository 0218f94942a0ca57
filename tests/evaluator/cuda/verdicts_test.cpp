// Whole evaluations: Judge, CudaHost and sessions on a GPU made of host memory.
#include <limits>

#include <kernelsmith/evaluator/call_limit.hpp>

#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

/// The baseline takes 100 us a call.
struct VerdictBench : GlueBench {
  using GlueBench::GlueBench;
  std::unique_ptr<Judge> judge;

  Status create_judge() {
    if (auto created = create(); !created) return created;
    JudgeParts parts;
    parts.task = task;
    parts.host = host;
    parts.oracles = [this](const std::stop_token&) -> Result<Oracles> {
      return Oracles{std::make_unique<fake::Doubling<float>>(shapes),
                     std::make_unique<fake::Doubling<double>>(shapes),
                     {}};
    };
    parts.oracle_threads = 1;
    parts.bank = {std::size_t{64} << 20, 0, 40, 40};
    parts.baseline = binary("twice");
    parts.yardstick = parts.baseline;
    auto made = Judge::create(std::move(parts));
    if (!made) return made.error();
    judge = std::move(*made);
    return {};
  }

  Result<Evaluation> evaluate(const CudaBinaryPtr& candidate,
                              std::optional<Remeasurement> remeasurement = std::nullopt) {
    if (!judge)
      if (auto created = create_judge(); !created) return created.error();
    RunRequest request;
    request.candidate = candidate;
    request.remeasurement = remeasurement;
    return judge->evaluate(request, {});
  }

  /// The verdict on what a kernel does beside its work.
  Rejection verdict_on(const std::function<void(const KernelCall&)>& trick) {
    return rejection_of(evaluate(kernel("trick " + std::to_string(++tricks), [trick](const KernelCall& call) {
      twice(call);
      trick(call);
    })));
  }
  std::size_t tricks = 0;
};

TEST(CudaVerdicts, ARightKernelThatIsFasterIsAccepted) {
  VerdictBench bench;
  const Report report = accepted(bench.evaluate(bench.kernel("fast", twice, 50))).report();
  EXPECT_NEAR(report.shapes[kTimed].speedup->median, 2, 0.01);
  EXPECT_EQ(report.tier, "full");
  EXPECT_EQ(report.hardware, "a fake GPU");
}

TEST(CudaVerdicts, AConfirmationOnANewBankIsAcceptedToo) {
  VerdictBench bench;
  const CudaBinaryPtr fast = bench.kernel("fast", twice, 50);
  for (int again = 0; again < 2; ++again) accepted(bench.evaluate(fast, Remeasurement::confirm));
}

TEST(CudaVerdicts, ACallThatTakesTooLongCostsTheRunnerAndNotTheNext) {
  Task task = doubling_task();
  task.timeout_s = kGpuTimeoutS;
  VerdictBench bench(task);
  const Rejection rejection = bench.verdict_on([](const KernelCall&) { throw Hang{}; });
  EXPECT_EQ(rejection.stage, Stage::run);
  EXPECT_EQ(rejection.code, RejectionCode::timed_out);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("past 2.0"));
  EXPECT_THAT(rejection.diagnostics, HasSubstr("100 times as long as the yardstick's, which takes 100 us"));
  EXPECT_TRUE(bench.evaluate(bench.kernel("fast", twice, 50))->accepted());
  EXPECT_EQ(bench.grid.started, 3U) << "the spare took over, and the next one was started";
}

/// What sessions find of it is in session_test.cpp, and what the judge says of each finding in
/// judge/verdict_test.cpp.
TEST(CudaVerdicts, WhatAKernelWritesWrongly) {
  VerdictBench bench;
  const auto code_of_writing = [&](std::size_t tensor, std::ptrdiff_t at, float value) {
    return bench.verdict_on([=](const KernelCall& call) { call.as<float>(tensor)[at] = value; }).code;
  };
  EXPECT_EQ(code_of_writing(kY, 5, -1), RejectionCode::wrong_output);
  EXPECT_EQ(code_of_writing(kY, 2, std::numeric_limits<float>::infinity()), RejectionCode::not_finite);
  EXPECT_EQ(code_of_writing(kX, 0, -1), RejectionCode::input_modified);
  for (const std::ptrdiff_t at : {-1, 7})
    EXPECT_EQ(code_of_writing(kY, at, 1), RejectionCode::out_of_bounds) << at;
}

TEST(CudaVerdicts, AnOutputThatIsWrongInTheTimedCallsAlone) {
  VerdictBench bench;
  std::size_t calls = 0;
  const Rejection rejection = bench.verdict_on([&](const KernelCall& call) {
    if (call.sizes[0] == 64 && ++calls > 4) call.as<float>(kY)[63] = 0;
  });
  EXPECT_EQ(rejection.code, RejectionCode::wrong_output);
}

TEST(CudaVerdicts, ACrashSparesTheNextCandidate) {
  VerdictBench bench;
  EXPECT_EQ(bench.verdict_on([](const KernelCall&) { throw Crash{}; }).code, RejectionCode::crashed);
  std::size_t calls = 0;
  EXPECT_EQ(bench
                .verdict_on([&](const KernelCall& call) {
                  if (call.sizes[0] == 64 && ++calls > 10) throw Crash{};
                })
                .code,
            RejectionCode::crashed);
  accepted(bench.evaluate(bench.kernel("fast", twice, 50)));
  EXPECT_EQ(bench.gpu->epoch(), 3);
}

TEST(CudaVerdicts, ACandidateThatIsDroppedInEveryBatchIsStillMeasured) {
  VerdictBench bench;
  bench.grid.disturb = [](ReplayTime& time) { time.late = true; };
  accepted(bench.evaluate(bench.kernel("fast", twice, 50)));
}

TEST(CudaVerdicts, ADeviceThatBreaksInAnyComparisonAcceptsNobody) {
  VerdictBench bench;
  ASSERT_TRUE(bench.create_judge());
  const CudaBinaryPtr fast = bench.kernel("fast", twice, 50);
  bench.device->launch_calls = 0;
  ASSERT_TRUE(bench.evaluate(fast)->accepted());
  const std::size_t all = bench.device->launch_calls;
  for (std::size_t at = 0; at < all; ++at) {
    bench.device->launch_calls = 0;
    bench.device->breaks_at = at;
    EXPECT_EQ(bench.evaluate(fast).error().message, "a sticky error")
        << "in comparison " << at << " of " << all;
    bench.device->broken.reset();
  }
}

TEST(CudaVerdicts, NoRunnerStartsWhileACandidateIsTimed) {
  VerdictBench bench;
  EXPECT_EQ(bench.verdict_on([](const KernelCall&) { throw Crash{}; }).code, RejectionCode::crashed);
  std::size_t before_timing = 0;
  bool timed = false;
  const CudaBinaryPtr fast = bench.kernel("fast", [&](const KernelCall& call) {
    twice(call);
    const std::lock_guard lock(bench.grid.mutex);
    if (call.sizes[0] == 64 && bench.grid.batches.back().calls > 1 && !std::exchange(timed, true))
      before_timing = bench.grid.started;
  });
  ASSERT_TRUE(bench.evaluate(fast)->accepted());
  ASSERT_TRUE(timed);
  const std::lock_guard lock(bench.grid.mutex);
  EXPECT_EQ(before_timing, bench.grid.started);
}

TEST(CudaVerdicts, ABaselineThatIsWrongRefusesTheTask) {
  VerdictBench bench;
  bench.grid.kernels["twice"] = {[](const KernelCall&) {}, 100};
  EXPECT_EQ(bench.create_judge().error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace kernelsmith::cuda

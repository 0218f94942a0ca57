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
    const auto evaluation =
        evaluate(kernel("trick " + std::to_string(++tricks), [trick](const KernelCall& call) {
          twice(call);
          trick(call);
        }));
    if (!evaluation) ADD_FAILURE() << describe(evaluation.error());
    if (!evaluation || evaluation->accepted()) return {};
    return *evaluation->rejection();
  }
  std::size_t tricks = 0;
};

TEST(CudaVerdicts, ARightKernelThatIsFasterIsAccepted) {
  VerdictBench bench;
  const auto evaluation = bench.evaluate(bench.kernel("fast", twice, 50));
  ASSERT_TRUE(evaluation) << describe(evaluation.error());
  ASSERT_TRUE(evaluation->accepted()) << evaluation->rejection()->diagnostics;
  EXPECT_NEAR(evaluation->report().shapes[kTimed].speedup->median, 2, 0.01);
  EXPECT_EQ(evaluation->report().tier, "full");
  EXPECT_EQ(evaluation->report().hardware, "a fake GPU");
}

TEST(CudaVerdicts, AConfirmationOnANewBankIsAcceptedToo) {
  VerdictBench bench;
  const CudaBinaryPtr fast = bench.kernel("fast", twice, 50);
  for (const auto remeasurement : {Remeasurement::confirm, Remeasurement::confirm}) {
    const auto evaluation = bench.evaluate(fast, remeasurement);
    ASSERT_TRUE(evaluation) << describe(evaluation.error());
    EXPECT_TRUE(evaluation->accepted());
  }
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

TEST(CudaVerdicts, AWrongOutput) {
  VerdictBench bench;
  const Rejection rejection =
      bench.verdict_on([](const KernelCall& call) { call.as<float>(kY)[5] *= 1.01F; });
  EXPECT_EQ(rejection.code, RejectionCode::wrong_output);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("output 'y' at n=7"));
}

TEST(CudaVerdicts, AnOutputThatIsWrongInTheTimedCallsAlone) {
  VerdictBench bench;
  std::size_t calls = 0;
  const Rejection rejection = bench.verdict_on([&](const KernelCall& call) {
    if (call.sizes[0] == 64 && ++calls > 4) call.as<float>(kY)[63] = 0;
  });
  EXPECT_EQ(rejection.code, RejectionCode::wrong_output);
}

TEST(CudaVerdicts, AnOutputThatIsNotWritten) {
  VerdictBench bench;
  float before = 0;
  const auto evaluation = bench.evaluate(bench.kernel("lazy", [&](const KernelCall& call) {
    before = call.as<float>(kY)[6];
    twice(call);
    call.as<float>(kY)[6] = before;
    std::memcpy(call.as<float>(kY) + 6, &before, sizeof before);
  }));
  ASSERT_TRUE(evaluation);
  ASSERT_FALSE(evaluation->accepted());
  EXPECT_EQ(evaluation->rejection()->code, RejectionCode::output_not_written);
}

TEST(CudaVerdicts, AnOutputThatIsNotFinite) {
  VerdictBench bench;
  const auto puts = [&](float value) {
    return bench.verdict_on([value](const KernelCall& call) { call.as<float>(kY)[2] = value; }).code;
  };
  EXPECT_EQ(puts(std::numeric_limits<float>::infinity()), RejectionCode::not_finite);
  EXPECT_EQ(puts(std::numeric_limits<float>::quiet_NaN()), RejectionCode::not_finite);
}

TEST(CudaVerdicts, AnInputThatIsWritten) {
  VerdictBench bench;
  const Rejection rejection = bench.verdict_on([](const KernelCall& call) { call.as<float>(kX)[0] += 1; });
  EXPECT_EQ(rejection.code, RejectionCode::input_modified);
  EXPECT_EQ(rejection.stage, Stage::integrity);
}

TEST(CudaVerdicts, MemoryBesideAnOutput) {
  VerdictBench bench;
  for (const std::ptrdiff_t at : {-1, 7}) {
    const Rejection rejection =
        bench.verdict_on([at](const KernelCall& call) { call.as<float>(kY)[at] = 1; });
    EXPECT_EQ(rejection.code, RejectionCode::out_of_bounds) << at;
  }
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
  const auto evaluation = bench.evaluate(bench.kernel("fast", twice, 50));
  ASSERT_TRUE(evaluation) << describe(evaluation.error());
  EXPECT_TRUE(evaluation->accepted());
  EXPECT_EQ(bench.gpu->epoch(), 3);
}

TEST(CudaVerdicts, ACandidateThatIsDroppedInEveryBatchIsStillMeasured) {
  VerdictBench bench;
  bench.grid.disturb = [](ReplayTime& time) { time.late = true; };
  const auto evaluation = bench.evaluate(bench.kernel("fast", twice, 50));
  ASSERT_TRUE(evaluation) << describe(evaluation.error());
  EXPECT_TRUE(evaluation->accepted());
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
    const auto evaluation = bench.evaluate(fast);
    ASSERT_FALSE(evaluation) << "in comparison " << at << " of " << all;
    EXPECT_EQ(evaluation.error().message, "a sticky error");
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
  const auto created = bench.create_judge();
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace kernelsmith::cuda

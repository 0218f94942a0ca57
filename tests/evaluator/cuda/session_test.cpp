// CudaSession: what a kernel finds, what is found of it, and what it leaves.
#include <cmath>
#include <limits>

#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

TEST(CudaSession, ARightKernelIsFoundRight) {
  GlueBench bench;
  Played run(bench, binary("twice"), 3);
  const double time = value_of(run.run());
  EXPECT_DOUBLE_EQ(time, 300) << "without what an empty graph takes";
  const Findings findings = run.session->compare();
  EXPECT_FALSE(findings.wrong);
  EXPECT_EQ(findings.error, 0);
}

TEST(CudaSession, NoKernelIsShorterThanHalfOfWhatWasSeen) {
  GlueBench bench;
  Played run(bench, bench.kernel("quick", twice, 0.5));
  EXPECT_DOUBLE_EQ(*run.run(), 1.25) << "half of 2.5, not 2.5 less 2";
}

TEST(CudaSession, TheWrongOutputsCallAndElementAreFound) {
  GlueBench bench;
  std::size_t calls = 0;
  Played run(bench,
             bench.kernel("wrong",
                          [&](const KernelCall& call) {
                            twice(call);
                            if (++calls == 2) call.as<float>(kY)[4] += 1;
                          }),
             3);
  const Findings findings = run.findings();
  ASSERT_TRUE(findings.wrong);
  EXPECT_EQ(findings.wrong->call, 1);
  EXPECT_EQ(findings.wrong->tensor, kY);
  EXPECT_FALSE(findings.wrong->beside);
  EXPECT_EQ(findings.wrong->result.fault, Fault::wrong);
  EXPECT_EQ(findings.wrong->result.worst_at, 4);
  EXPECT_EQ(findings.wrong->actual, load_element(Dtype::f32, run.sets[1].outputs[kY].values.data(), 4) + 1);
}

TEST(CudaSession, AnElementThatIsNotWrittenIsToldAsThat) {
  GlueBench bench;
  Played run(bench, bench.kernel("lazy", [](const KernelCall& call) {
    for (int i = 0; i < 6; ++i) call.as<float>(kY)[i] = 2 * call.as<float>(kX)[i];
  }));
  const Findings findings = run.findings();
  ASSERT_TRUE(findings.wrong);
  EXPECT_EQ(findings.wrong->result.fault, Fault::not_written);
  EXPECT_EQ(findings.wrong->result.faults.not_written.first, 6);
}

TEST(CudaSession, BudgetsAreHeldElementByElementAndAsAWhole) {
  GlueBench bench;
  Played run(bench, bench.kernel("off", [](const KernelCall& call) {
    for (int i = 0; i < 7; ++i) call.as<float>(kY)[i] = 2 * call.as<float>(kX)[i] + 0.5F;
  }));
  Expected& expected = run.sets[0].outputs[kY];
  expected.exact = false;
  const auto weigh = [&](float weight) {
    run.sets[0].recipe.key[0] += 1;
    expected.weights.resize(7 * sizeof(float));
    for (std::size_t i = 0; i < 7; ++i) store_element(Dtype::f32, expected.weights.data(), i, weight);
  };
  weigh(1);
  const Findings within = run.findings();
  EXPECT_FALSE(within.wrong);
  EXPECT_DOUBLE_EQ(within.error, 0.5);
  expected.rms_limit = 0.25;
  const Findings whole = run.findings();
  ASSERT_TRUE(whole.wrong) << "no element is off, all together are";
  EXPECT_DOUBLE_EQ(whole.error, 2);
  expected.rms_limit = 1;
  weigh(4);
  EXPECT_TRUE(run.findings().wrong);
}

struct Stray {
  const char* name;
  Dtype dtype;
  std::ptrdiff_t at;  ///< from the output's first byte, or if `behind` from the first byte behind it
  bool behind;
};

class BesideAnOutput : public ::testing::TestWithParam<Stray> {};

TEST_P(BesideAnOutput, AStrayByteIsFound) {
  const Stray stray = GetParam();
  GlueBench bench(doubling_task(stray.dtype));
  const auto bytes = static_cast<std::ptrdiff_t>(7 * bytes_of(stray.dtype));
  Played run(bench,
             bench.kernel("stray",
                          [&](const KernelCall& call) {
                            for (std::size_t i = 0; i < 7; ++i)
                              store_element(stray.dtype, call.tensors[kY], i,
                                            2 * load_element(stray.dtype, call.tensors[kX], i));
                            if (stray.at != 0 || stray.behind)
                              call.tensors[kY][(stray.behind ? bytes : 0) + stray.at] ^= std::byte{1};
                          }),
             2);
  const Findings findings = run.findings();
  const bool harmless = stray.at == 0 && !stray.behind;
  ASSERT_EQ(findings.wrong.has_value(), !harmless);
  if (harmless) return;
  EXPECT_TRUE(findings.wrong->beside);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, BesideAnOutput,
    ::testing::Values(Stray{"none_f32", Dtype::f32, 0, false}, Stray{"none_u8", Dtype::u8, 0, false},
                      Stray{"none_bf16", Dtype::bf16, 0, false}, Stray{"before_f32", Dtype::f32, -1, false},
                      Stray{"far_before_f32", Dtype::f32, -4096, false},
                      Stray{"before_u8", Dtype::u8, -1, false}, Stray{"behind_f32", Dtype::f32, 0, true},
                      Stray{"behind_bf16", Dtype::bf16, 0, true}, Stray{"behind_u8", Dtype::u8, 0, true},
                      Stray{"second_behind_u8", Dtype::u8, 1, true},
                      Stray{"last_of_the_piece_u8", Dtype::u8, 256 - 7 - 1, true}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(CudaSession, AnInputThatWasWrittenIsNamed) {
  GlueBench bench;
  Played run(bench,
             bench.kernel("vandal",
                          [](const KernelCall& call) {
                            twice(call);
                            call.tensors[kX][27] ^= std::byte{1};  // the last byte
                          }),
             2);
  const Rejection rejection = rejection_of(run.run());
  EXPECT_EQ(rejection.code, RejectionCode::input_modified);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("the input 'x' was written"));
}

TEST(CudaSession, WhoDoesCallsAheadThatTheBatchDoesNotHoldIsRejected) {
  for (const std::int64_t elements : {std::int64_t{7}, std::int64_t{100'000}}) {  // one window, and several
    Task task = doubling_task();
    task.sizes["n"] = elements;
    GlueBench bench(std::move(task));
    std::map<std::byte*, KernelCall> known;  // by input: of the batches before
    const CudaBinaryPtr kernel = bench.kernel("ahead", [&](const KernelCall& call) {
      twice(call);
      for (const auto& [x, other] : known) twice(other);
      known[call.tensors[kX]] = call;
    });
    Played all(bench, kernel, 4, kTimed);
    ASSERT_TRUE(all.run()) << "there is nothing to be seen yet: the batch holds every call";
    const Rejection one = rejection_of(Played(bench, kernel, 1, kTimed).run());
    EXPECT_EQ(one.code, RejectionCode::out_of_bounds);
    EXPECT_THAT(one.diagnostics, HasSubstr("had not begun"));
  }
}

TEST(CudaSession, AnInoutTensorStartsWithItsInputEachTime) {
  GlueBench bench(doubling_task(Dtype::f32, TensorRole::inout));
  Played run(bench, bench.kernel("in place", [](const KernelCall& call) {
    for (int i = 0; i < 7; ++i) call.as<float>(kY)[i] *= 2;
  }));
  EXPECT_FALSE(run.findings().wrong);
  EXPECT_FALSE(run.findings().wrong);
}

TEST(CudaSession, ATrustedKernelIsNotLookedAt) {
  GlueBench bench;
  Played run(bench, bench.kernel("wrong", [](const KernelCall&) {}), 1, kChecked, Trust::trusted);
  EXPECT_TRUE(run.run());
  EXPECT_EQ(bench.device->launches, 0);
  EXPECT_FALSE(run.session->compare().wrong);
}

TEST(CudaSession, OutputsAreWipedAndStillCompared) {
  GlueBench bench;
  for (const Trust trust : {Trust::candidate, Trust::trusted}) {
    Played run(bench, binary("twice"), 2, kChecked, trust);
    ASSERT_TRUE(run.run());
    for (std::size_t slot = 0; slot < 2; ++slot)
      for (std::size_t i = 0; i < 28; ++i)
        ASSERT_EQ(tensor_at(bench, kChecked, slot, kY)[i], std::byte{0}) << slot << " " << i;
    EXPECT_FALSE(run.session->compare().wrong);
  }
}

TEST(CudaSession, TwoSessionsKeepTheirOutputsApart) {
  GlueBench bench;
  Played right(bench, binary("twice"));
  Played wrong(bench, bench.kernel("wrong", [](const KernelCall& call) {
    for (int i = 0; i < 7; ++i) call.as<float>(kY)[i] = 0;
  }));
  ASSERT_TRUE(right.run());
  ASSERT_TRUE(wrong.run());
  EXPECT_FALSE(right.session->compare().wrong);
  EXPECT_TRUE(wrong.session->compare().wrong);
  EXPECT_NE(right.session->outputs(), wrong.session->outputs());
}

TEST(CudaSession, EqualOutputsHaveEqualDigests) {
  GlueBench bench;
  Played one(bench, binary("twice"), 2), other(bench, bench.kernel("alike", twice), 2);
  ASSERT_TRUE(one.run());
  ASSERT_TRUE(other.run());
  EXPECT_EQ(one.session->outputs(), other.session->outputs());
}

/// Writes a mark everywhere in reach but in tensors and margins, and counts the marks that it found.
struct Hoarder {
  std::size_t found = 0;

  void operator()(const KernelCall& call) {
    twice(call);
    const auto bytes = static_cast<std::size_t>(call.sizes[0]) * 4;
    for (const std::size_t t : {kX, kY}) {
      std::byte* const tensor = call.tensors[t];
      const auto piece_begin = reinterpret_cast<std::uintptr_t>(tensor) / FakeDevice::kGranule;
      for (std::byte* p = reinterpret_cast<std::byte*>(piece_begin * FakeDevice::kGranule); p < tensor - 4096;
           p += 4096)
        look(p);
      // Margins of inputs are not looked at.
      if (t == kX && reinterpret_cast<std::uintptr_t>(tensor + bytes) % FakeDevice::kGranule != 0)
        look(tensor + bytes);
    }
  }
  void look(std::byte* p) {
    constexpr std::uint32_t kMark = 0xcafe1234;
    std::uint32_t there = 0;
    std::memcpy(&there, p, sizeof there);
    if (there == kMark) ++found;
    std::memcpy(p, &kMark, sizeof kMark);
  }
};

TEST(CudaSession, NothingThatAKernelLeavesInItsPiecesIsThereInTheNextBatch) {
  GlueBench bench;
  auto hoarder = std::make_shared<Hoarder>();
  const CudaBinaryPtr kernel =
      bench.kernel("hoarder", [hoarder](const KernelCall& call) { (*hoarder)(call); });
  for (const std::size_t shape : {kTimed, kChecked, kTimed}) {
    Played run(bench, kernel, 2, shape);
    EXPECT_FALSE(run.findings().wrong);
    EXPECT_FALSE(run.findings().wrong);
  }
  EXPECT_EQ(hoarder->found, 0);
}

TEST(CudaSession, NothingThatAKernelLeavesSurvivesItsRejectionOrItsCrash) {
  for (const auto code : {RejectionCode::input_modified, RejectionCode::crashed}) {
    GlueBench bench;
    auto hoarder = std::make_shared<Hoarder>();
    bool bad = true;
    const CudaBinaryPtr kernel = bench.kernel("hoarder", [&](const KernelCall& call) {
      (*hoarder)(call);
      if (bad && code == RejectionCode::crashed) throw Crash{};
      if (bad) call.tensors[kX][0] ^= std::byte{1};
    });
    EXPECT_EQ(rejection_of(Played(bench, kernel).run()).code, code);
    bad = false;
    EXPECT_TRUE(Played(bench, kernel).run());
    EXPECT_EQ(hoarder->found, 0);
  }
}

TEST(CudaSession, OutputsArePoisonedAnew) {
  GlueBench bench;
  std::set<std::uint32_t> seen;
  Played run(bench, bench.kernel("nosy", [&](const KernelCall& call) {
    seen.insert(*call.as<std::uint32_t>(kY));
    EXPECT_TRUE(std::isnan(*call.as<float>(kY)));
    twice(call);
  }));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(run.run());
  EXPECT_GE(seen.size(), 3) << "four draws of a million";
}

TEST(CudaSession, ADisturbedBatchIsRepeatedTwiceAtMost) {
  GlueBench bench;
  std::size_t batches = 0, disturbed = 1;
  bench.grid.disturb = [&](ReplayTime& time) { time.late = batches++ < disturbed; };
  Played run(bench, binary("twice"));
  ASSERT_TRUE(run.run());
  EXPECT_EQ(batches, 2);
  std::map<std::string, double> costs;
  run.session->take_costs(costs);
  EXPECT_EQ(costs.count("dropped as disturbed"), 1);
  batches = 0;
  disturbed = 100;
  ASSERT_TRUE(run.run()) << "measured as it is";
  EXPECT_EQ(batches, 3);
  EXPECT_FALSE(run.session->compare().wrong);
}

TEST(CudaSession, AThrottledBatchIsRepeatedAndACappedOneIsNot) {
  GlueBench bench;
  std::uint32_t reasons = 0;
  std::size_t batches = 0;
  bench.grid.disturb = [&](ReplayTime& time) {
    ++batches;
    time.throttle_reasons = reasons;
  };
  Played run(bench, binary("twice"));
  for (const std::uint32_t slowdown : {0x08U, 0x20U, 0x40U, 0x80U}) {
    reasons = slowdown;
    batches = 0;
    ASSERT_TRUE(run.run());
    EXPECT_EQ(batches, 3) << slowdown;
  }
  for (const std::uint32_t usual : {0x1U, 0x2U, 0x4U}) {  // idle, clocks as set, power cap
    reasons = usual;
    batches = 0;
    ASSERT_TRUE(run.run());
    EXPECT_EQ(batches, 1) << usual;
  }
}

TEST(CudaSession, CostsOfARepeatedBatchAreCountedOnce) {
  GlueBench bench;
  bench.grid.disturb = [&](ReplayTime& time) {
    time.late = true;
    time.load_ms = 1000;
  };
  Played run(bench, binary("twice"));
  ASSERT_TRUE(run.run());
  std::map<std::string, double> costs;
  run.session->take_costs(costs);
  EXPECT_EQ(costs["load"], 1000);
}

TEST(CudaSession, AfterACrashAnotherRunnerTakesOver) {
  GlueBench bench;
  const CudaBinaryPtr crashing = bench.kernel("crashing", [](const KernelCall&) { throw Crash{}; });
  Played before(bench, binary("twice"));
  ASSERT_TRUE(before.run());
  EXPECT_EQ(rejection_of(Played(bench, crashing).run()).code, RejectionCode::crashed);
  ASSERT_TRUE(before.run()) << "an open session of another kernel goes on";
  EXPECT_FALSE(before.session->compare().wrong);
  EXPECT_TRUE(Played(bench, binary("twice")).run());
  EXPECT_EQ(bench.grid.batches.back().runner, bench.gpu->epoch());
  EXPECT_EQ(bench.gpu->epoch(), 2);
  EXPECT_EQ(bench.plans->where()->epoch, 2);
  EXPECT_EQ(bench.planner.planned, 3) << "twice for two runners, crashing once";
}

TEST(CudaSession, ComparesWhatItRanBeforeTheRunnerWasReplaced) {
  GlueBench bench;
  Played run(bench, binary("twice"));
  ASSERT_TRUE(run.run());
  Played(bench, bench.kernel("crashing", [](const KernelCall&) { throw Crash{}; })).run();
  EXPECT_FALSE(run.session->compare().wrong);
}

TEST(CudaSession, AStopRequestIsCancelled) {
  GlueBench bench;
  ASSERT_TRUE(bench.create());
  std::stop_source source;
  auto session = std::move(*bench.host->open(binary("twice"), Trust::candidate, 0, source.get_token()));
  source.request_stop();
  const InputSet set = bench.set(kChecked, 1);
  EXPECT_EQ(error_of(session->run({kChecked, {&set}, 10})).code, ErrorCode::cancelled);
}

TEST(CudaSession, ABrokenDeviceInACompareIsToldThereAndByTheNextRun) {
  GlueBench bench;
  Played run(bench, binary("twice"));
  ASSERT_TRUE(run.run());
  bench.device->broken = fail(ErrorCode::tool_failed, "a sticky error");
  const Findings findings = run.session->compare();
  EXPECT_FALSE(findings.wrong);
  ASSERT_TRUE(findings.broken);
  EXPECT_EQ(findings.broken->message, "a sticky error");
  bench.device->broken.reset();
  EXPECT_EQ(error_of(run.run()).message, "a sticky error");
}

TEST(CudaSession, ExpectedOutputsThatNoLongerFitAreAnErrorAndNoCrash) {
  GlueBench bench;
  Played run(bench, binary("twice"));
  ASSERT_TRUE(run.run());
  run.sets[0].recipe.key = {77, 77};  // as if the cache had dropped it
  bench.device->memory = bench.device->in_use();
  const Findings findings = run.session->compare();
  ASSERT_TRUE(findings.broken);
  EXPECT_THAT(findings.broken->message, HasSubstr("out of memory"));
}

TEST(CudaSession, ABatchThatTheBuffersDoNotHoldIsRefused) {
  GlueBench bench;
  Played run(bench, binary("twice"), 5);
  EXPECT_EQ(error_of(run.run()).code, ErrorCode::internal);
  run.batch.calls.clear();
  EXPECT_EQ(error_of(run.run()).code, ErrorCode::internal);
}

}  // namespace
}  // namespace kernelsmith::cuda

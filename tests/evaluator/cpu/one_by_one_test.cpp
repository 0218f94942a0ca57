// Calls that are shown one by one: the pipe, the waiting, what is looked at, and all of it with a runner.
#include "one_by_one.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <kernelsmith/evaluator/task_file.hpp>

#include "await_count.hpp"
#include "compiler.hpp"
#include "cores.hpp"
#include "locate_runner.hpp"
#include "step_stream.hpp"
#include "timing_core.hpp"

namespace kernelsmith {
namespace {

constexpr std::int64_t kElements = 1000;
constexpr std::size_t kCalls = 12;

/// `more` stands behind the input's shape.
Task doubled(std::int64_t n, const std::string& more = "", int threads = 1) {
  return parse_task(
             "version: 1\nname: doubled\nbackend: cpu\nentry: doubled\n"
             "files: {reference: reference.cpp}\nsizes: {n: " +
                 std::to_string(n) + "}\nthreads: " + std::to_string(threads) +
                 "\ntensors:\n  - {name: x, role: in, dtype: f32, shape: [n]" + more +
                 "}\n  - {name: y, role: out, dtype: f32, shape: [n]}\n",
             "task.yaml", [](const std::string&) -> Result<std::string> { return ""; })
      .value();
}

std::vector<std::size_t> streamed(const Task& task) {
  return streamed_tensors(task, shapes_of(task).front());
}

iovec as_iovec(std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

TEST(UsualTime, LeavesOutTheSlowestEighth) {
  EXPECT_DOUBLE_EQ(usual_time({1, 2, 3, 2, 1, 2, 3, 1000}), 2);
  EXPECT_DOUBLE_EQ(usual_time({5}), 5);
  EXPECT_DOUBLE_EQ(usual_time({5, 7}), 6);
}

TEST(StreamedTensors, AreInputsThatAPipeHolds) {
  if (cores_by_preference().size() < 2) GTEST_SKIP() << "needs two cores";
  EXPECT_EQ(streamed(doubled(kElements)), std::vector<std::size_t>{0});
  EXPECT_EQ(streamed(doubled(131072)), std::vector<std::size_t>{0});
  EXPECT_TRUE(streamed(doubled(131073)).empty());
  EXPECT_TRUE(streamed(doubled(kElements, ", constant: true")).empty());
  EXPECT_TRUE(streamed(doubled(kElements, "", 2)).empty());
}

TEST(StepStreamTest, HoldsOneCallsInputsAndKnowsWhenTheyWereRead) {
  auto ends = StepStream::create().value();
  std::vector<char> a(5000, 'a'), b(3, 'b'), got(5003);
  ASSERT_TRUE(ends.first.make_room(5003 + 2 * 4096));
  EXPECT_TRUE(ends.first.empty());
  ASSERT_TRUE(ends.first.stage(std::array{as_iovec(a), as_iovec(b)}));
  EXPECT_TRUE(ends.first.empty());
  EXPECT_LT(::read(ends.second.get(), got.data(), got.size()), 0);
  ASSERT_TRUE(ends.first.release());
  EXPECT_FALSE(ends.first.empty());
  ASSERT_EQ(::read(ends.second.get(), got.data(), got.size()), 5003);
  EXPECT_EQ(got[4999], 'a');
  EXPECT_EQ(got[5000], 'b');
  EXPECT_TRUE(ends.first.empty());
}

TEST(StepStreamTest, DoesNotWaitForWhoDoesNotRead) {
  auto ends = StepStream::create().value();
  std::vector<char> much(std::size_t{1} << 20), page(4096);
  EXPECT_FALSE(ends.first.stage(std::array{as_iovec(much)}));
  auto other = StepStream::create().value();
  ASSERT_TRUE(other.first.make_room(page.size()));
  while (other.first.stage(std::array{as_iovec(page)}))
    if (!other.first.release()) break;
  EXPECT_FALSE(other.first.empty());
}

TEST(AwaitCount, SeesTheCountOrIsToldToGo) {
  std::uint64_t counter = 3;
  int asked = 0;
  EXPECT_TRUE(runner::await_count(&counter, 3, [] { return false; }));
  EXPECT_FALSE(runner::await_count(&counter, 4, [&] { return ++asked < 5; }));
  EXPECT_EQ(asked, 5);
}

TEST(AwaitCount, SeesWhatWasRaisedBeforeItWasToldToGo) {
  std::uint64_t counter = 0;
  EXPECT_TRUE(runner::await_count(&counter, 1, [&] { return ++counter == 0; }));
}

TEST(BoundToTest, LeavesTheThreadItsCoresAfterwards) {
  const std::vector<int> all = cores_by_preference();
  if (all.size() < 2) GTEST_SKIP() << "needs two cores";
  const std::vector<int> others = cores_beside(all.front());
  EXPECT_EQ(std::ranges::count(others, all.front()), 0);
  {
    const BoundTo elsewhere(others);
    EXPECT_EQ(cores_by_preference().size(), others.size());
    EXPECT_EQ(std::ranges::count(cores_by_preference(), all.front()), 0);
  }
  EXPECT_EQ(cores_by_preference(), all);
  { const BoundTo anywhere({}); }
  EXPECT_EQ(cores_by_preference(), all);
}

/// With a runner, as the judge does it.
class OneByOneTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    compiler = CpuCompiler::create(doubled(kElements), {}).value();
    linked = compiler->link_all_libraries().value();
  }
  static void TearDownTestSuite() {
    linked.reset();
    compiler.reset();
  }

  void SetUp() override {
    if (cores_by_preference().size() < 2) GTEST_SKIP() << "needs two cores";
    ArenaShape place{{kElements}, {kElements * sizeof(float), kElements * sizeof(float)}, kCalls};
    place.streamed = {0};
    arena.emplace(Arena::create(std::array{TensorRole::in, TensorRole::out}, {place}).value());
    for (std::size_t call = 0; call < kCalls; ++call) {
      bank.emplace_back();
      bank.back().inputs.resize(2);
      std::vector<float> values(kElements);
      std::iota(values.begin(), values.end(), static_cast<float>(call * 10));
      const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
      bank.back().inputs[0].assign(bytes, bytes + kElements * sizeof(float));
    }
    std::iota(sets.begin(), sets.end(), std::size_t{0});
  }

  /// Calls the kernel, which is the body of a function of x, y and n, and gives the verdict.
  Judged<void> verdict_on(const std::string& body, runner::Manner manner = runner::Manner::one_by_one,
                          double timeout_s = 10) {
    const std::string source =
        "#include <unistd.h>\n#include \"task.hpp\"\n"
        "void doubled(const float* __restrict x, float* __restrict y, std::int64_t n) {\n" +
        body + "\n}\n";
    const auto output =
        compiler->compile(Source::create({{"doubled.cpp", source}}).value(), Precision::declared, {});
    RunnerSettings settings;
    settings.files = RunnerFiles::create(locate_runner({}).value(), linked->object()).value();
    settings.core = std::make_shared<const TimingCore>(TimingCore::choose());
    auto runner = RunnerProcess::start(*arena, settings).value();
    if (auto loaded = runner.load(output->binary->object()); !loaded) return loaded;
    OneByOne script(task, bank, *arena, 0, 0, sets, random);
    const auto clock = runner.call_one_by_one(script, manner, timeout_s);
    if (!clock) return clock.error();
    step_us = clock->step_us;
    return script.verdict(shape);
  }

  float output(std::size_t call, std::size_t element) const {
    return reinterpret_cast<const float*>(arena->tensor(0, call, 1))[element];
  }

  static RejectionCode code_of(const Judged<void>& verdict) {
    const Failure failure = verdict.error();
    return std::get<Rejection>(failure).code;
  }

  static inline std::shared_ptr<const CpuCompiler> compiler;
  static inline CpuBinaryPtr linked;
  const Task task = doubled(kElements);
  const TaskShape shape = shapes_of(task).front();
  std::optional<Arena> arena;
  std::vector<InputSet> bank;
  std::array<std::size_t, kCalls> sets{};
  SecretStream random;
  std::vector<double> step_us;
};

constexpr const char* kHonest = "for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];";

TEST_F(OneByOneTest, EveryCallGetsItsInputsAndIsTimed) {
  ASSERT_TRUE(verdict_on(kHonest));
  ASSERT_EQ(step_us.size(), kCalls);
  for (const double us : step_us) EXPECT_GT(us, 0);
  for (std::size_t call = 0; call < kCalls; ++call)
    EXPECT_EQ(output(call, 7), 2 * (static_cast<float>(call * 10) + 7));
}

TEST_F(OneByOneTest, NothingIsCalledToTellWhatShowingCosts) {
  ASSERT_TRUE(verdict_on("y[0] = 1;", runner::Manner::not_at_all));
  EXPECT_EQ(step_us.size(), kCalls);
  for (std::size_t call = 0; call < kCalls; ++call) EXPECT_EQ(output(call, 0), 0);
}

TEST_F(OneByOneTest, AnInputThatIsWrittenIsFoundOut) {
  const auto verdict = verdict_on(std::string(kHonest) +
                                  "for (std::int64_t i = 0; i < n; ++i) const_cast<float*>(x)[i] = -1;");
  ASSERT_FALSE(verdict);
  EXPECT_EQ(code_of(verdict), RejectionCode::input_modified);
}

TEST_F(OneByOneTest, WhatIsWrittenByALaterCallIsFoundOut) {
  const auto verdict = verdict_on(
      "static float* before; if (before) for (std::int64_t i = 0; i < n; ++i) before[i] = 1;\n"
      "before = y;");
  ASSERT_FALSE(verdict);
  EXPECT_EQ(code_of(verdict), RejectionCode::protocol_forged);
}

TEST_F(OneByOneTest, WhatIsWrittenBeforeItsInputsAreShownIsFoundOut) {
  // An output takes a page, and a guard page lies behind it.
  const auto verdict = verdict_on(
      "const bool first_slot = x[0] < 5;\nfloat* other = first_slot ? y + 2048 : y - 2048;\n"
      "for (std::int64_t i = 0; i < n; ++i) other[i] = 1;\n" +
      std::string(kHonest));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(code_of(verdict), RejectionCode::protocol_forged);
  EXPECT_EQ(step_us.size(), 0U);
}

TEST_F(OneByOneTest, ACallThatNeverEndsIsPastItsTime) {
  const auto verdict =
      verdict_on("for (volatile bool more = true; more;) {}", runner::Manner::one_by_one, 0.3);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(code_of(verdict), RejectionCode::timed_out);
}

TEST_F(OneByOneTest, AProcessThatEndsIsNotWaitedFor) {
  const auto verdict = verdict_on("static int calls; if (++calls == 3) _exit(0);\n" + std::string(kHonest));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(code_of(verdict), RejectionCode::exited);
}

TEST_F(OneByOneTest, AReplyBeforeTheLastCallIsForged) {
  const auto verdict = verdict_on("const char reply[16] = {}; if (write(3, reply, 16) != 16) return;");
  ASSERT_FALSE(verdict);
  EXPECT_EQ(code_of(verdict), RejectionCode::protocol_forged);
}

}  // namespace
}  // namespace kernelsmith

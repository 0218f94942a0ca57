#include "runner_pool.hpp"

#include "fake_python.hpp"

namespace kernelsmith::torch {
namespace {

constexpr double kRunnerPatienceS = 60;

PlanPtr plan(const std::string& script) { return std::make_shared<const Plan>("KSTORCH1    " + script); }

/// Runners of the fake program; the first `dead` of them end as soon as they have started.
struct RunnerBench {
  explicit RunnerBench(std::size_t dead = 0)
      : runners(
            [this, dead](Role, const std::stop_token&) {
              SandboxSpec spec = trusted_program(fake_python(), "worker", {"runner"});
              if (started++ < dead) spec.argv = {spec.argv.front(), "-c", "pass"};
              return PythonProcess::start(std::move(spec));
            },
            {{"do", "prepare"}}, kRunnerPatienceS) {}

  TrustedProcess* take(const PlanPtr& of, std::size_t place) { return runners.take(of, place, {}).value(); }

  std::size_t started = 0;
  RunnerPool runners;
};

bool runs(TrustedProcess* runner, const PlanPtr& of) {
  const auto loaded = runner->ask({{"do", "load"}}, of->bytes(), kRunnerPatienceS, {});
  const auto ran = runner->ask({{"do", "run"}, {"sets", {1}}}, kRunnerPatienceS, {});
  return loaded && ran;
}

TEST(RunnerPool, EveryPlaceHasARunnerOfItsOwn) {
  RunnerBench pool;
  const PlanPtr mine = plan("{}");
  TrustedProcess* const first = pool.take(mine, 0);
  ASSERT_TRUE(first && runs(first, mine));
  EXPECT_EQ(pool.take(mine, 0), first);
  EXPECT_NE(pool.take(mine, 1), first);
  EXPECT_EQ(pool.started, 3U) << "two, and a spare";
  EXPECT_EQ(pool.runners.find(mine), first);
}

TEST(RunnerPool, OnlyTheFirstRunnerReadsEarly) {
  RunnerBench pool;
  const PlanPtr mine = plan("{}");
  pool.runners.read_early({});
  EXPECT_GT(pool.runners.waited_s(), 0) << "the judge's clock stands still";
  for (std::size_t place : {0, 1}) {
    TrustedProcess* const runner = pool.take(mine, place);
    ASSERT_TRUE(runner);
    const auto loaded = runner->ask({{"do", "load"}}, mine->bytes(), kRunnerPatienceS, {});
    ASSERT_TRUE(loaded);
    EXPECT_EQ(count_at(loaded->json, "reads"), place == 0 ? 1U : 0U);
    pool.runners.read_early({});
  }
  EXPECT_EQ(pool.started, 3U);
}

TEST(RunnerPool, ARunnerServesOneBinaryAfterTheOther) {
  RunnerBench pool;
  const PlanPtr mine = plan("{}"), other = plan(R"({"us": 3})");
  TrustedProcess* const first = pool.take(mine, 0);
  TrustedProcess* const next = pool.take(other, 0);
  EXPECT_EQ(next, first);
  ASSERT_TRUE(next && runs(next, other));
  EXPECT_EQ(pool.runners.find(mine), nullptr);
  EXPECT_EQ(pool.runners.find(other), next);
  EXPECT_EQ(pool.started, 2U);
}

TEST(RunnerPool, ADeadRunnerIsReplaced) {
  RunnerBench pool;
  const PlanPtr mine = plan(R"({"on": {"load": "die"}})");
  TrustedProcess* const first = pool.take(mine, 0);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->ask({{"do", "load"}}, mine->bytes(), kRunnerPatienceS, {}));
  EXPECT_EQ(pool.runners.find(mine), nullptr);
  ASSERT_TRUE(pool.take(mine, 0));
  EXPECT_EQ(pool.started, 4U) << "two, and after the loss two spares";
}

/// What the first candidate left must not be the next one's.
TEST(RunnerPool, ARunnerThatTellsOfDamageIsReplaced) {
  for (const std::string code : {"input_modified", "crashed", "timed_out", "out_of_memory"}) {
    RunnerBench pool;
    const PlanPtr mine = plan(R"({"on": {"load": {"fault": "candidate", "stage": "run", "code": ")" + code +
                              R"(", "message": "it did"}}})");
    TrustedProcess* const first = pool.take(mine, 0);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->ask({{"do", "load"}}, mine->bytes(), kRunnerPatienceS, {}));
    ASSERT_TRUE(pool.take(plan("{}"), 0));
    EXPECT_EQ(pool.started, code == "out_of_memory" ? 2U : 4U) << code;
  }
}

TEST(RunnerPool, ARunnerThatDiesBeforeItHasAPlanIsTheMachines) {
  RunnerBench pool(1);
  const auto taken = pool.runners.take(plan("{}"), 0, {});
  EXPECT_EQ(taken.error().code, ErrorCode::tool_failed);
  EXPECT_THAT(taken.error().message, HasSubstr("asked to prepare"));
  EXPECT_TRUE(pool.take(plan("{}"), 0)) << "the next one may work";
}

}  // namespace
}  // namespace kernelsmith::torch

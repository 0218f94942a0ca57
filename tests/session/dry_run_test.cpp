// The estimate of a dry run, and its checks over a task without tools.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/session/dry_run.hpp>

#include "temporary_folder.hpp"
#include "toy_task.hpp"

namespace kernelsmith {
namespace {

CallEstimate a_model(const std::string& name, double usd_in, double usd_out) {
  return {.terms = {.model = name,
                    .agent_usd = {},
                    .input_usd = usd_in,
                    .output_usd = usd_out,
                    .most_prompt_tokens = 4000,
                    .most_reply_tokens = 1000},
          .prompt_tokens = 1000,
          .reply_tokens = 100};
}

class DryRunTest : public testing::Test {
 protected:
  RunConfig config(std::string_view yaml) { return toy::config_for(task_, yaml); }

  TemporaryFolder folder_;
  TaskFolder task_ = toy::task_in(folder_.path());
};

TEST_F(DryRunTest, EstimatesFromIterationsRepairsAndPrices) {
  auto run = config("budgets: {iterations: 40}\nlimits: {repairs: 2}\n");
  run.operators = {{{Operator::rewrite, ""}, 3.0}, {{Operator::tune, ""}, 1.0}};
  const RunEstimate estimate = estimate_run(run, {a_model("m", 1e-6, 1e-5)});
  EXPECT_EQ(estimate.calls, 30u);
  EXPECT_EQ(estimate.most_calls, 120u);
  EXPECT_NEAR(estimate.usd.value(), 30 * 0.002, 1e-12);
  EXPECT_NEAR(estimate.most_usd.value(), 120 * (0.004 + 0.01), 1e-12);
}

TEST_F(DryRunTest, ABudgetOfCallsIsThatMany) {
  for (const auto& [budgets, calls, most] : {std::tuple{"{calls: 7}", 7u, 7u},
                                             {"{iterations: 5, calls: 7}", 5u, 7u},
                                             {"{iterations: 9, calls: 7}", 7u, 7u}}) {
    auto run = config("budgets: " + std::string(budgets) + "\nlimits: {repairs: 2}\n");
    run.operators = {{{Operator::rewrite, ""}, 1.0}};
    const RunEstimate estimate = estimate_run(run, {a_model("m", 1e-6, 1e-5)});
    EXPECT_EQ(estimate.calls, calls) << budgets;
    EXPECT_EQ(estimate.most_calls, most) << budgets;
    EXPECT_NEAR(estimate.usd.value(), calls * 0.002, 1e-12) << budgets;
  }
}

TEST_F(DryRunTest, ModelsHaveTheSharesOfTheirOperators) {
  auto run = config("budgets: {iterations: 10}\n");
  run.operators = {{{Operator::rewrite, ""}, 1.0}, {{Operator::edit, "dear"}, 3.0}};
  const RunEstimate estimate = estimate_run(run, {a_model("cheap", 1e-6, 0), a_model("dear", 1e-4, 0)});
  EXPECT_EQ(estimate.models[0].share, 0.25);
  EXPECT_EQ(estimate.models[1].share, 0.75);
  EXPECT_NEAR(estimate.usd.value(), 10 * (0.25 * 0.001 + 0.75 * 0.1), 1e-12);
}

TEST_F(DryRunTest, AnAgentCostsAtMostItsOwnBudget) {
  auto run = config("budgets: {iterations: 10}\n");
  run.operators = {{{Operator::rewrite, "m"}, 1.0}, {{Operator::rewrite, "agent"}, 1.0}};
  CallEstimate agent;
  agent.terms.model = "agent";
  agent.terms.is_agent = true;
  EXPECT_FALSE(estimate_run(run, {a_model("m", 1e-6, 0), agent}).usd);
  agent.terms.agent_usd = 2;
  EXPECT_NEAR(estimate_run(run, {a_model("m", 1e-6, 0), agent}).usd.value(), 5 * 0.001 + 5 * 2, 1e-12);
}

TEST_F(DryRunTest, TheBudgetOfMoneyBoundsWhatItEstimates) {
  auto run = config("budgets: {iterations: 1000, usd: 0.5}\n");
  run.operators = {{{Operator::rewrite, ""}, 1.0}};
  const RunEstimate estimate = estimate_run(run, {a_model("m", 1e-6, 1e-5)});
  EXPECT_EQ(estimate.usd, 0.5);
  EXPECT_EQ(estimate.most_usd, 0.5);
  EXPECT_NEAR(estimate.affordable_calls.value(), 250, 1e-9);
}

TEST_F(DryRunTest, WhatIsUnknownStaysUnknown) {
  auto run = config("budgets: {iterations: 10}\n");
  run.operators = {{{Operator::rewrite, ""}, 1.0}};
  auto model = a_model("m", 1e-6, 1e-5);
  model.terms.most_reply_tokens.reset();
  EXPECT_TRUE(estimate_run(run, {model}).usd);
  EXPECT_FALSE(estimate_run(run, {model}).most_usd);
  model.terms.input_usd.reset();
  EXPECT_FALSE(estimate_run(run, {model}).usd);
  run.budgets = {.iterations = {}, .evaluations = {}, .wall_s = 60};
  EXPECT_FALSE(estimate_run(run, {model}).calls);
  EXPECT_TRUE(estimate_run(run, {}).models.empty());
}

TEST_F(DryRunTest, EveryCheckIsMadeWhateverFailedBefore) {
  const DryRun result =
      dry_run(task_, config("deterministic: true\nbudgets: {wall_time_s: 5}\nevaluator: {refuse: true}\n"));
  ASSERT_EQ(result.checks.size(), 3u);
  ASSERT_TRUE(result.error());
  EXPECT_EQ(result.error()->where, "budgets.wall_time_s");
  EXPECT_EQ(result.checks.back().error->code, ErrorCode::refused);
}

}  // namespace
}  // namespace kernelsmith

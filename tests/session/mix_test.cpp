// The proposer `mix`: what its section of run.yaml may hold, and what its arms' own settings become of it.
// tests/cli/mix_test.py has its runs.

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "toy_task.hpp"

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MixTest : public testing::Test {
 protected:
  MixTest() { std::ofstream(prices_) << "version: 1\nprices: [{model: \"*\", input: 1, output: 1}]\n"; }

  Status lay(RunConfig& config, const std::string& yaml) {
    return read_config(yaml, "run.yaml", toy::registry(), config);
  }
  RunConfig config(const std::string& arms) {
    RunConfig config = toy::config_for(task_, "version: 1\n");
    lay(config, "proposer:\n  kind: mix\n  arms:\n" + arms).value();
    return config;
  }
  Error error_of(const std::string& proposer) {
    RunConfig config = toy::config_for(task_, "version: 1\n");
    const Status read = lay(config, "proposer:\n" + proposer);
    return read ? Error{} : read.error();
  }

  TemporaryFolder folder_;
  TaskFolder task_ = toy::task_in(folder_.path());
  const std::string prices_ = (folder_.path() / "prices.yaml").string();
  const std::string chat_ =
      "    api: {kind: chat, base_url: \"http://127.0.0.1:1/v1\", price_file: " + prices_ +
      ", models: [{name: small}, {name: large}]}\n";
  const std::string agent_ = "    smith: {kind: agent, command: [sh, -c, exit], network: true}\n";
};

TEST_F(MixTest, IsTheModelsOfItsArmsWithEveryOperatorOfEach) {
  const RunConfig mixed = config(chat_ + agent_);
  EXPECT_THAT(mixed.proposer.provider->traits().models, ElementsAre("small", "large", "sh"));
  ASSERT_EQ(mixed.operators.size(), 3u + 3 + 1);
  EXPECT_EQ(mixed.operators.front().choice, (OperatorChoice{Operator::rewrite, "small"}));
  EXPECT_EQ(mixed.operators.back().choice, (OperatorChoice{Operator::rewrite, "sh"}));
  EXPECT_EQ(mixed.proposer.provider->traits().in_flight, 8u + 1);
  EXPECT_THAT(mixed.proposer.provider->outlook().destination, HasSubstr("\nsmith: runs sh -c exit"));
  EXPECT_TRUE(mixed.proposer.provider->make(task_.task, {}));
}

TEST_F(MixTest, IsReadAsItWasWrittenAndASettingReachesItsArmAlone) {
  RunConfig mixed = config(chat_ + agent_);
  const std::string written = to_yaml(mixed);
  RunConfig again = toy::config_for(task_, "version: 1\n");
  lay(again, written).value();
  EXPECT_EQ(to_yaml(again), written);
  lay(again, "proposer: {arms: {smith: {name: codex}}}").value();
  EXPECT_THAT(again.proposer.provider->traits().models, ElementsAre("small", "large", "codex"));
  EXPECT_THAT(to_yaml(again), HasSubstr("price_file: " + prices_));
}

TEST_F(MixTest, AStrangersArmAsksFirstAndIsAnsweredByItsName) {
  RunConfig mixed = config(chat_ + agent_);
  const auto provider = mixed.proposer.provider;
  provider->mark_untrusted();
  EXPECT_THAT(provider->settings_to_reconfirm(), ElementsAre("arms.smith.network=true"));
  const auto refused = provider->make(task_.task, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "proposer.arms.smith");
  EXPECT_THAT(refused.error().hint, HasSubstr("--set 'proposer.arms.smith.network=true'"));
  lay(mixed, "proposer: {arms: {api: {attempts: 2}}}").value();
  EXPECT_FALSE(provider->make(task_.task, {})) << "only the other arm was named";
  lay(mixed, "proposer: {arms: {smith: {network: true}}}").value();
  EXPECT_TRUE(provider->make(task_.task, {}));
}

TEST_F(MixTest, AStrangersServerGetsNoKeyUntilTheArmIsToldIt) {
  ASSERT_EQ(::setenv("MIX_TEST_API_KEY", "sk-planted", 1), 0);
  const std::string far =
      "    far: {kind: chat, base_url: \"https://model.invalid/v1\", key: \"${MIX_TEST_API_KEY}\", "
      "models: [{name: far}]}\n";
  RunConfig mixed = config(chat_ + far);
  const auto provider = mixed.proposer.provider;
  EXPECT_TRUE(provider->make(task_.task, {}));
  provider->mark_untrusted();
  EXPECT_THAT(provider->settings_to_reconfirm(),
              ::testing::Contains("arms.far.base_url=https://model.invalid/v1"));
  const auto refused = provider->make(task_.task, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "proposer.arms.far.base_url");
  EXPECT_THAT(refused.error().hint, HasSubstr("resume RUN --set proposer.arms.far.base_url=URL"));
  lay(mixed, "proposer: {arms: {far: {base_url: \"https://model.invalid/v1\"}}}").value();
  EXPECT_TRUE(provider->make(task_.task, {}));
  ::unsetenv("MIX_TEST_API_KEY");
}

TEST_F(MixTest, ABudgetOfMoneyNeedsAPriceOfEveryArmThatCosts) {
  const RunConfig mixed = config(chat_ + agent_);
  const auto refusal = [&](const RunConfig& of) {
    const Status priced = of.proposer.provider->outlook().check_prices();
    return priced ? "" : priced.error().where + ": " + priced.error().message;
  };
  std::ofstream(prices_) << "version: 1\nprices: [{model: small, input: 0, output: 0}]\n";
  EXPECT_THAT(refusal(mixed), HasSubstr("\"large\" has no price"));
  std::ofstream(prices_) << "version: 1\nprices: [{model: \"*\", input: 0, output: 0}]\n";
  EXPECT_THAT(refusal(mixed), StartsWith("proposer.arms.smith.budget.usd: "));
  RunConfig limited = config(chat_ + agent_);
  lay(limited, "proposer: {arms: {smith: {budget: {usd: 2}}}}").value();
  EXPECT_EQ(refusal(limited), "") << "the free models end with the agent's money";

  ProposalRequest request;
  request.model = "sh";
  const CallPlanner planner = limited.proposer.provider->planner(task_.task).value();
  EXPECT_EQ(planner(request)->usd, 2);
  request.op = Operator::tune;
  EXPECT_FALSE(planner(request));

  const RunConfig free =
      config(chat_ + "    b: {kind: chat, price_file: " + prices_ + ", models: [{name: x}]}\n");
  EXPECT_THAT(refusal(free), HasSubstr("would never end"));
}

TEST_F(MixTest, OnlyAgentsAreGivenUpWhenTheTimeIsUp) {
  const auto outlook = config(chat_ + agent_).proposer.provider->outlook();
  EXPECT_TRUE(outlook.find("sh")->may_be_given_up);
  EXPECT_FALSE(outlook.find("large")->may_be_given_up);
  EXPECT_FALSE(outlook.find("")->may_be_given_up) << "the first arm's";
  EXPECT_TRUE(outlook.prompts("large"));
  EXPECT_FALSE(outlook.prompts("sh"));
}

TEST_F(MixTest, WhatCannotBeMixedIsOneErrorWithItsPlace) {
  const std::string mix = "  kind: mix\n  arms:\n";
  const std::string other = "    other: {kind: agent, command: [other]}\n";
  const struct {
    std::string proposer, where, message;
  } cases[] = {
      {"  kind: mix\n", "run.yaml:2", "key 'proposer.arms' is missing"},
      {"  kind: mix\n  arms: [{kind: chat}]\n", "run.yaml:3", "must be a mapping"},
      {mix + agent_, "run.yaml:3", "needs two arms"},
      {mix + other + "    a: {command: [sh]}\n", "run.yaml:5", "key 'proposer.arms.a.kind' is missing"},
      {mix + other + "    a: {kind: tuner}\n", "run.yaml:5", "must be one of agent, chat, found 'tuner'"},
      {mix + other + "    a: {kind: recording, run: x}\n", "run.yaml:5", "found 'recording'"},
      {mix + other + "    a: {kind: mix, arms: {}}\n", "run.yaml:5", "found 'mix'"},
      {mix + other + "    a: {kind: chat}\n", "run.yaml:5", "names no model"},
      {mix + other + "    a.b: {kind: agent, command: [sh]}\n", "run.yaml:5", "letters, digits"},
      {mix + other + "    a: {kind: agent, command: []}\n", "run.yaml:5",
       "'proposer.arms.a.command' is empty"},
      {mix + other + "    a: {kind: agent, command: [/bin/other]}\n", "run.yaml:5",
       "the name \"other\" is taken by the arm other"},
      {mix + other + "    a: {kind: chat, models: [{name: m}, {name: m}]}\n", "run.yaml:5", "\"m\" is taken"},
      {mix + other + agent_ + "operators: [{operator: rewrite, model: shh}]\n", "run.yaml:6",
       "no model \"shh\""},
  };
  for (const auto& one : cases) {
    const Error error = error_of(one.proposer);
    EXPECT_THAT(error.where, StartsWith(one.where)) << one.proposer << error.message;
    EXPECT_THAT(error.message, HasSubstr(one.message));
  }
}

}  // namespace
}  // namespace kernelsmith

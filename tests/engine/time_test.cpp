// The budget of wall time: what is given up when it is used up, what is waited for, and what no budget
// counts.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

/// Evaluates seeds and confirmations. The rest it answers when it is stopped, with `cancelled`.
struct Endless final : Evaluator {
  void start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) override {
    if (job.candidate.value == 0 || job.remeasurement == Remeasurement::confirm) return done(score(job));
    rest.wait(std::move(stop), std::move(done));
  }
  UntilStopped<Evaluation> rest;
};

/// Lets others wait until a notice comes: that the time is up and something is waited for.
struct Bell final : Observer {
  void on_event(const Event&) override {}
  void on_notice(const Notice&) override {
    {
      const std::lock_guard lock(mutex);
      rung = true;
    }
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return rung; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool rung = false;
};

EngineOptions timed(Operator op, double wall_s) {
  auto options = toy_options();
  options.budgets = {.iterations = {}, .evaluations = {}, .wall_s = wall_s, .usd = {}};
  options.operators = weighted({{{op, ""}, 1}});
  options.confirm = true;
  options.proposals_in_flight = options.evaluations_in_flight = 2;
  return options;
}

TEST(Time, EvaluationsOfTheTunersChildrenAreGivenUp) {
  EngineOptions options;
  Events events;
  std::string text;
  const auto outcome = in_time(
      [&](double wall_s) {
        options = timed(Operator::tune, wall_s);
        events = no_events();
        Engine engine = open_engine(options, events, std::make_shared<Endless>(), blocking(nudge, 2));
        auto ended = engine.run();
        text = text_of(engine);
        return ended;
      },
      [](const Counts& counts) { return counts.given_back >= 2; });
  EXPECT_EQ(outcome.reason, EndReason::budget);
  EXPECT_EQ(outcome.budget, BudgetName::wall_time);
  EXPECT_GE(outcome.counts.given_back, 2U);
  EXPECT_EQ(outcome.counts.iterations, 0U) << "what is given up uses up no budget";
  EXPECT_TRUE(outcome.confirmation) << "the best is measured again all the same";
  EXPECT_EQ(text, replayed(options, events));
  // The journal alone shows it as well.
  const auto state = replay(MemoryJournal(events), options).value();
  EXPECT_EQ(state.end_reason(state.elapsed_s()), EndReason::budget);
  EXPECT_EQ(state.used_up(state.elapsed_s()), BudgetName::wall_time);
}

TEST(Time, AnswersThatWerePaidForAreEvaluated) {
  const auto outcome = in_time(
      [](double wall_s) {
        auto options = timed(Operator::rewrite, wall_s);
        const auto bell = std::make_shared<Bell>();
        options.observer = bell;
        const auto evaluator = blocking(
            [bell](const EvaluationJob& job) {
              if (job.candidate.value > 0) bell->wait();
              return score(job);
            },
            2);
        return open_engine(options, no_events(), evaluator, blocking(nudge, 2)).run();
      },
      [](const Counts& counts) { return counts.iterations >= 2; });
  EXPECT_EQ(outcome.budget, BudgetName::wall_time);
  EXPECT_EQ(outcome.counts.given_back, 0U);
  EXPECT_GE(outcome.counts.iterations, 2U);
}

/// Waits until the budget of the request's run is used up.
void wait_for_end(const ProposalRequest& request) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, request.ending, [] { return false; });
}

TEST(Time, WhatFailsIsNotTriedAgainAndWhatWaitsIsNotBegun) {
  // Fails when the time is up, or at once, so that its next attempt is an hour away.
  for (const bool at_once : {false, true}) {
    std::atomic<int> asked = 0;
    std::vector<Commit> commits;
    const auto outcome = in_time(
        [&](double wall_s) {
          asked = 0;
          commits.clear();
          auto options = timed(Operator::rewrite, wall_s);
          options.budgets.iterations = options.proposals_in_flight = 4;
          options.retry_delay_s = 3600;
          const auto proposer = blocking(
              [&](const ProposalRequest& request) -> Result<Proposal> {
                ++asked;
                if (!at_once) wait_for_end(request);
                return fail(ErrorCode::rate_limited, "slow down");
              },
              2);
          return open_engine(options, no_events(), blocking(score), proposer).run([&](const Commit& commit) {
            commits.push_back(commit);
          });
        },
        [&](const Counts&) { return asked >= (at_once ? 4 : 2); });
    EXPECT_EQ(outcome.reason, EndReason::budget) << "errors behind the end are not the reason";
    EXPECT_EQ(outcome.budget, BudgetName::wall_time);
    EXPECT_EQ(asked, at_once ? 4 : 2);
    EXPECT_EQ(outcome.counts.given_back, 4U);
    EXPECT_TRUE(outcome.confirmation);
    const auto told = std::ranges::count_if(commits, [](const Commit& commit) {
      return commit.error && commit.error->message.find("slow down") != std::string::npos;
    });
    EXPECT_EQ(told, at_once ? 0 : 2) << "what it had met is said";
  }
}

TEST(Time, EvaluationsThatFailAreNotMadeAgain) {
  for (const ErrorCode code : {ErrorCode::tool_failed, ErrorCode::timeout}) {
    std::mutex mutex;
    std::multiset<ProgramId> children;
    const auto outcome = in_time(
        [&](double wall_s) {
          children.clear();
          auto options = timed(Operator::rewrite, wall_s);
          options.retry_delay_s = 3600;
          const auto bell = std::make_shared<Bell>();
          options.observer = bell;
          const auto evaluator = blocking(
              [&, bell](const EvaluationJob& job) -> Result<Evaluation> {
                if (job.candidate.value == 0) return score(job);
                bell->wait();
                const std::lock_guard lock(mutex);
                children.insert(job.candidate);
                return fail(code, "no worker");
              },
              2);
          return open_engine(options, no_events(), evaluator, blocking(nudge, 2)).run();
        },
        [&](const Counts&) { return children.size() >= 2; });
    EXPECT_EQ(std::set(children.begin(), children.end()).size(), children.size()) << "each is evaluated once";
    const bool gone = code == ErrorCode::timeout;
    EXPECT_EQ(outcome.reason, gone ? EndReason::errors : EndReason::budget);
    EXPECT_EQ(outcome.counts.given_back, gone ? 0 : children.size()) << "resume evaluates what was paid for";
    EXPECT_EQ(outcome.confirmation.has_value(), !gone) << "nobody waits for a worker twice";
  }
}

TEST(Time, WhatAnEarlierSessionLeftOpenIsNotBegunAnyMore) {
  auto options = timed(Operator::rewrite, 10);
  double now = 0;
  options.clock_s = [&] { return now; };
  const auto events = no_events();
  {
    Engine engine = open_engine(options, events);
    ASSERT_TRUE(engine.tell(next(engine).id, score_of(0)));
    const Ticket answered = next(engine);
    next(engine);  // under way when the process is killed
    now = 11;
    ASSERT_TRUE(engine.tell(answered.id, number(5), score_of(5)));
  }
  std::atomic<int> asked = 0;
  Engine engine = open_engine(options, events, blocking(score), blocking([&](const ProposalRequest& request) {
                                ++asked;
                                return nudge(request);
                              }));
  const auto outcome = engine.run().value();
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(outcome.counts.given_back, 1U);
  EXPECT_EQ(outcome.budget, BudgetName::wall_time);
}

TEST(Time, MeasuringTheBestAgainComesOnTop) {
  auto options = timed(Operator::tune, 10);
  double now = 0;
  options.clock_s = [&] { return now; };
  const auto events = no_events();
  {
    Engine engine = open_engine(options, events);
    ASSERT_TRUE(engine.tell(next(engine).id, score_of(0)));
    const Ticket child = next(engine);
    now = 11;
    ASSERT_TRUE(engine.tell(child.id, number(5), score_of(5)));
    const Ticket confirm = next(engine);
    ASSERT_TRUE(std::holds_alternative<Remeasure>(confirm.work));
    now = 18;
    ASSERT_TRUE(engine.tell(confirm.id, score_of(5)));
    const Outcome outcome = engine.outcome();
    EXPECT_EQ(outcome.budget, BudgetName::wall_time);
    EXPECT_EQ(outcome.elapsed_s, 18);
    EXPECT_EQ(outcome.confirming_s, 7);
  }
  EXPECT_EQ(replay(MemoryJournal(events), options)->confirming_s(), 7);
  options.budgets.wall_s = 12;
  now = 100;
  Engine more = open_engine(options, events);
  EXPECT_TRUE(std::holds_alternative<Propose>(next(more).work)) << "one second is left";
  now += 2;
  EXPECT_FALSE(more.ask().value());
}

}  // namespace
}  // namespace kernelsmith

// The budget of wall time: what is given up when it is used up, what is waited for, and what no budget
// counts.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
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
    const std::lock_guard lock(mutex);
    waiting.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(
        stop, [done = std::move(done)] { done(fail(ErrorCode::cancelled, "stopped")); }));
  }
  std::mutex mutex;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> waiting;
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
  options.operators = std::make_shared<WeightedOperators>(WeightedOperators::create({{{op, ""}, 1}}).value());
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
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_EQ(outcome->reason, EndReason::budget);
  EXPECT_EQ(outcome->budget, BudgetName::wall_time);
  EXPECT_GE(outcome->counts.given_back, 2U);
  EXPECT_EQ(outcome->counts.iterations, 0U) << "what is given up uses up no budget";
  EXPECT_TRUE(outcome->confirmation) << "the best is measured again all the same";
  EXPECT_EQ(text, replayed(options, events));
  // The journal alone shows it as well.
  const auto state = replay(MemoryJournal(events), options);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->end_reason(state->elapsed_s()), EndReason::budget);
  EXPECT_EQ(state->used_up(state->elapsed_s()), BudgetName::wall_time);
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
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_EQ(outcome->budget, BudgetName::wall_time);
  EXPECT_EQ(outcome->counts.given_back, 0U);
  EXPECT_GE(outcome->counts.iterations, 2U);
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
  const auto outcome = engine.run();
  ASSERT_TRUE(outcome) << describe(outcome.error());
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(outcome->counts.given_back, 1U);
  EXPECT_EQ(outcome->budget, BudgetName::wall_time);
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

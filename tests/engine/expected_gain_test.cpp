// What is left is expected to gain, and the end of a run that is flat.

#include <cmath>

#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

Improvement improvement(std::uint64_t evaluation, double log_gain) {
  return {ProgramId{evaluation}, evaluation, log_gain};
}

Measurement around(double median, double width) { return {median, median - width, median + width, 5, ""}; }

TEST(ExpectedGain, NothingIsGainedByNothing) {
  EXPECT_EQ(expected_log_gain({}, 10, 0), 0);
  const std::vector history{improvement(5, 0.5)};
  EXPECT_EQ(expected_log_gain(history, 10, 0), 0);
}

TEST(ExpectedGain, GrowsWithWhatIsLeftAndWithWhatWasGained) {
  const std::vector small{improvement(5, 0.1)}, large{improvement(5, 0.5)};
  EXPECT_LT(expected_log_gain(small, 10, 10), expected_log_gain(large, 10, 10));
  EXPECT_LT(expected_log_gain(small, 10, 10), expected_log_gain(small, 10, 20));
}

TEST(ExpectedGain, WhatWasGainedLatelyCountsMore) {
  const std::vector early{improvement(2, 0.5)}, late{improvement(90, 0.5)};
  EXPECT_LT(expected_log_gain(early, 100, 50), expected_log_gain(late, 100, 50));
}

TEST(ExpectedGain, ASearchThatGainsNothingGoesFlat) {
  const std::vector history{improvement(10, 0.7)};
  EXPECT_GT(expected_gain(history, 10, 10).percent, 10);
  EXPECT_LT(expected_gain(history, 5000, 5000).percent, 1);
  EXPECT_GT(expected_gain({}, 2, 2).percent, 10) << "too early to tell";
  EXPECT_LT(expected_gain({}, 5000, 5000).percent, 1);
}

TEST(ImprovementHistory, CountsWhatIsBetterBeyondTheNoise) {
  ImprovementHistory history;
  EXPECT_FALSE(history.known());
  history.observe({0}, around(1, 0.1), 1);
  EXPECT_TRUE(history.known());
  history.observe({1}, around(1.15, 0.1), 2);
  EXPECT_TRUE(history.improvements().empty());
  history.observe({2}, around(1.3, 0.1), 3);  // beyond the first, if not beyond the second
  ASSERT_EQ(history.improvements().size(), 1U);
  EXPECT_EQ(history.improvements()[0].program, ProgramId{2});
  EXPECT_EQ(history.improvements()[0].evaluation, 3U);
  EXPECT_DOUBLE_EQ(history.improvements()[0].log_gain, std::log(1.3));
  history.observe({2}, around(1.3, 0.1), 9);
  EXPECT_EQ(history.improvements().size(), 1U);
}

TEST(ImprovementHistory, WhatDidNotHoldIsTakenBack) {
  ImprovementHistory history;
  history.observe({0}, Measurement::exact(1), 1);
  history.observe({1}, Measurement::exact(2), 2);
  history.observe({2}, Measurement::exact(50), 3);
  history.observe({1}, Measurement::exact(2), 4);
  ASSERT_EQ(history.improvements().size(), 1U);
  EXPECT_EQ(history.improvements()[0].program, ProgramId{1});
  history.observe({3}, Measurement::exact(4), 5);
  ASSERT_EQ(history.improvements().size(), 2U);
  EXPECT_DOUBLE_EQ(history.improvements()[1].log_gain, std::log(2));
}

TEST(ImprovementHistory, AFitnessThatIsNotPositiveHasNoRatio) {
  ImprovementHistory history;
  history.observe({0}, Measurement::exact(0), 1);
  history.observe({1}, Measurement::exact(-1), 2);
  EXPECT_FALSE(history.known());
  history.observe({2}, Measurement::exact(3), 3);
  EXPECT_TRUE(history.known());
  EXPECT_TRUE(history.improvements().empty());
}

/// No other budget; at this figure the toy search, which cannot go beyond 100, is flat soon.
EngineOptions flat_options(bool deterministic) {
  auto options = toy_options(100'000);
  options.budgets = {};
  options.budgets.until_flat = 40;
  options.seeds = {number(0)};
  options.deterministic = deterministic;
  options.pipeline = 4;
  options.confirm = true;
  options.repairs = 1;
  return options;
}

struct Ended {
  Outcome outcome;
  std::string text;
};

Ended run_until_flat(const EngineOptions& options, const Events& events, unsigned workers) {
  Engine engine = open_engine(options, events, blocking(noisy_score, workers), blocking(nudge, workers));
  auto outcome = engine.run().value();
  EXPECT_EQ(text_of(engine), replayed(options, events));
  return {std::move(outcome), text_of(engine)};
}

TEST(UntilFlat, EndsTheRunAndConfirmsTheBest) {
  const auto [outcome, text] = run_until_flat(flat_options(false), no_events(), 2);
  EXPECT_EQ(outcome.reason, EndReason::flat);
  EXPECT_FALSE(outcome.budget);
  ASSERT_TRUE(outcome.expected_gain);
  EXPECT_LT(outcome.expected_gain->percent, 40);
  EXPECT_EQ(outcome.expected_gain->evaluations, outcome.counts.evaluations);
  EXPECT_GT(outcome.counts.evaluations, 5U);
  EXPECT_TRUE(outcome.confirmation);
}

TEST(UntilFlat, ADeterministicRunCutAnywhereEndsAtTheSamePlace) {
  const auto options = flat_options(true);
  const auto whole = no_events();
  const auto expected = run_until_flat(options, whole, 4);
  EXPECT_EQ(expected.outcome.reason, EndReason::flat);
  for (std::size_t cut = 0; cut <= whole->size(); ++cut) {
    SCOPED_TRACE("cut behind event " + std::to_string(cut));
    const auto again = run_until_flat(options, prefix(whole, cut), 2);
    ASSERT_EQ(again.text, expected.text);
    ASSERT_EQ(again.outcome.reason, EndReason::flat);
    ASSERT_EQ(again.outcome.expected_gain, expected.outcome.expected_gain);
  }
}

TEST(UntilFlat, AFollowedRunEndsAtTheSamePlace) {
  const auto options = flat_options(true);
  const auto recorded = no_events(), events = no_events();
  const auto expected = run_until_flat(options, recorded, 2);
  Engine engine = open_engine(options, events);
  const auto followed = engine.follow(MemoryJournal(recorded), RecordedEvaluations::kept).value();
  EXPECT_EQ(followed.end, Followed::End::whole);
  EXPECT_EQ(engine.outcome().reason, EndReason::flat);
  EXPECT_EQ(engine.outcome().expected_gain, expected.outcome.expected_gain);
  EXPECT_EQ(text_of(engine), expected.text);
}

TEST(UntilFlat, ALowerFigureGoesOn) {
  auto options = flat_options(true);
  const auto events = no_events();
  const auto first = run_until_flat(options, events, 2);
  EXPECT_TRUE(open_engine(options, events).done());
  options.budgets.until_flat = 0.9 * first.outcome.expected_gain->percent;
  const auto second = run_until_flat(options, events, 2);
  EXPECT_GT(second.outcome.counts.evaluations, first.outcome.counts.evaluations);
}

TEST(UntilFlat, WhatIsLeftOfABudgetIsWhatCounts) {
  auto options = flat_options(true);
  options.budgets.evaluations = 100;
  const auto by_evaluations = run_until_flat(options, no_events(), 2).outcome;
  EXPECT_EQ(by_evaluations.reason, EndReason::flat);
  EXPECT_LE(by_evaluations.counts.evaluations + by_evaluations.expected_gain->evaluations, 100U);
  options.budgets.iterations = 10;
  options.budgets.until_flat = 1e-6;
  const auto by_iterations = run_until_flat(options, no_events(), 2).outcome;
  EXPECT_EQ(by_iterations.reason, EndReason::budget);
  EXPECT_EQ(by_iterations.budget, BudgetName::iterations);
}

TEST(UntilFlat, ABadFigureIsRefused) {
  for (const double figure : {0.0, -1.0, 100.5, std::nan("")}) {
    auto options = flat_options(false);
    options.budgets.until_flat = figure;
    const auto engine = Engine::create(std::make_unique<MemoryJournal>(no_events()), options);
    ASSERT_FALSE(engine) << figure;
    EXPECT_EQ(engine.error().where, "budgets.until_flat");
  }
  auto options = flat_options(false);
  options.topology = Topology::ring(2).value();
  const auto engine = Engine::create(std::make_unique<MemoryJournal>(no_events()), options);
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().message.find("islands migrate"), std::string::npos);
}

}  // namespace
}  // namespace kernelsmith

// Following a recording: the same search again, in the recorded order, without the proposer.

#include <atomic>

#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

Result<Proposal> flaky_nudge(const ProposalRequest& request) {
  if (request.ticket.value % 11 == 5) return Proposal{Refusal{RefusalCode::declined, ""}, {}, {}};
  if (request.ticket.value % 13 == 7) return fail(ErrorCode::network, "the line is cut");
  return as_proposal(request, nudge(request));
}

EngineOptions recorded_options() {
  auto options = toy_options(40);
  options.pipeline = 4;
  options.topology = Topology::ring(2).value();
  options.migration_period = 0.03;
  options.repairs = 1;
  options.confirm = true;
  options.evaluations_in_flight = 3;
  options.retries = 0;
  options.error_limit = 1000;
  return options;
}

/// A run with refusals, repairs, repeats, duels, tickets given back, and answers in any order.
Events recorded_run(const EngineOptions& options, const Events& events = no_events()) {
  EXPECT_TRUE(open_engine(options, events, blocking(noisy_score, 3), blocking(flaky_nudge, 4)).run());
  return events;
}

/// What follows the recording into `own`; asks no proposer.
Followed follow(const Events& recording, const EngineOptions& options, const Events& own,
                RecordedEvaluations evaluations = RecordedEvaluations::kept,
                std::shared_ptr<Evaluator> evaluator = nullptr) {
  auto followed =
      open_engine(options, own, std::move(evaluator)).follow(MemoryJournal(recording), evaluations);
  EXPECT_TRUE(followed) << describe(followed.error());
  return *followed;
}

TEST(Follow, AFreeRunOfManyWorkersIsRepeatedByteForByte) {
  const auto options = recorded_options();
  // Which of these a free run meets is chance: the rounds meet all of them together.
  std::uint64_t refused = 0, repairs = 0, repeated = 0, given_back = 0, remeasured = 0;
  for (int round = 0; round < 10; ++round) {
    const auto recording = recorded_run(options);
    const auto counts = replay(MemoryJournal(recording), options)->counts();
    refused += counts.refused;
    repairs += counts.repairs;
    repeated += counts.repeated;
    given_back += counts.given_back;
    remeasured += counts.remeasured;
    const auto own = no_events();
    EXPECT_EQ(follow(recording, options, own).end, Followed::End::whole);
    EXPECT_EQ(replayed(options, own), replayed(options, recording));
    EXPECT_EQ(own->size(), recording->size());
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(repairs, 0U);
  EXPECT_GT(repeated, 0U);
  EXPECT_GT(given_back, 0U);
  EXPECT_GT(remeasured, 0U);
}

TEST(Follow, MeasuredAnewByTheSameEvaluatorItIsTheSameArchive) {
  const auto options = recorded_options();
  const auto recording = recorded_run(options);
  std::atomic<unsigned> measured = 0;
  const auto count_and_score = [&](const EvaluationJob& job) { return ++measured, noisy_score(job); };
  const auto own = no_events();
  EXPECT_EQ(follow(recording, options, own, RecordedEvaluations::measured, blocking(count_and_score, 3)).end,
            Followed::End::whole);
  EXPECT_EQ(replayed(options, own), replayed(options, recording));
  EXPECT_GE(measured, replay(MemoryJournal(recording), options)->counts().evaluations);
}

TEST(Follow, MeasuredOtherwiseItPartsFromTheRecordingAndSaysWhere) {
  const auto options = recorded_options();
  const auto recording = recorded_run(options);
  const auto upside_down = [](const EvaluationJob& job) -> Evaluation {
    return accepted(Measurement::exact(-double(number_in(job.source))), {{"x", 5.0}});
  };
  const auto own = no_events();
  const auto followed =
      follow(recording, options, own, RecordedEvaluations::measured, blocking(upside_down, 2));
  EXPECT_EQ(followed.end, Followed::End::parted);
  ASSERT_TRUE(followed.why);
  EXPECT_EQ(followed.why->code, ErrorCode::not_found);
  EXPECT_NE(followed.why->message.find("ticket"), std::string::npos);
  // What was followed is a run like any other.
  EXPECT_TRUE(open_engine(options, own, blocking(upside_down), blocking(flaky_nudge)).run());
  EXPECT_EQ(replay(MemoryJournal(own), options)->counts().iterations, 40U);
}

TEST(Follow, AnEvaluatorThatOnlyFailsEndsIt) {
  const auto options = recorded_options();
  const auto broken = [](const EvaluationJob&) -> Result<Evaluation> {
    return fail(ErrorCode::tool_failed, "no compiler");
  };
  const auto followed =
      follow(recorded_run(options), options, no_events(), RecordedEvaluations::measured, blocking(broken, 2));
  EXPECT_EQ(followed.end, Followed::End::failed);
  EXPECT_EQ(followed.why->code, ErrorCode::tool_failed);
}

TEST(Follow, CutAnywhereItIsTakenUpWhereItStopped) {
  const auto options = recorded_options();
  const auto recording = recorded_run(options);
  const auto whole = no_events();
  follow(recording, options, whole);
  for (std::size_t cut = 0; cut <= whole->size(); ++cut) {
    SCOPED_TRACE("cut behind event " + std::to_string(cut));
    const auto own = prefix(whole, cut);
    const bool measured = cut % 2 == 1;
    const auto followed =
        follow(recording, options, own, measured ? RecordedEvaluations::measured : RecordedEvaluations::kept,
               blocking(noisy_score, 2));
    ASSERT_EQ(followed.end, Followed::End::whole);
    ASSERT_EQ(replayed(options, own), replayed(options, recording));
  }
}

TEST(Follow, ARunThatWasKilledAndGivenMoreBudgetIsRepeatedWithItsBudgets) {
  auto options = recorded_options();
  auto larger = options;
  larger.budgets.iterations = 70;
  const auto first = recorded_run(options);
  for (const std::size_t cut : {first->size(), first->size() / 2, first->size() / 3}) {
    const auto recording = recorded_run(larger, prefix(first, cut));
    const auto own = no_events();
    EXPECT_EQ(follow(recording, options, own).end, Followed::End::whole);
    EXPECT_EQ(replayed(options, own), replayed(options, recording)) << "cut behind event " << cut;
    EXPECT_EQ(replay(MemoryJournal(own), options)->budgets(), larger.budgets);
  }
}

/// Rewrites only, with another sampler for each word; a refusal `exhausted` ends what only tunes.
void set_policies(const std::string& word, EngineOptions& options) {
  const bool tunes = word == "tune";
  const auto op = tunes ? Operator::tune : word == "edit" ? Operator::edit : Operator::rewrite;
  options.operators = weighted({{{op, word}, 1}});
  options.sampler = std::make_shared<MixtureSampler>(
      MixtureSampler::create({.explore = tunes ? 1.0 : 0.0, .exploit = tunes ? 0.0 : 1.0}).value());
  options.ends_when_exhausted = tunes;
}

EngineOptions session_options(const std::string& word, std::uint64_t iterations) {
  auto options = recorded_options();
  options.budgets.iterations = iterations;
  options.recorded = {{"operators", word}, {"proposer", word}};
  options.take_policies = [](const auto& settings, EngineOptions& taking) {
    set_policies(settings.at("operators"), taking);
  };
  set_policies(word, options);
  return options;
}

/// A tuner that finds nothing more behind its twelfth ticket, and then two models.
Events run_of_three_sessions() {
  const auto events = no_events();
  const auto ends = [](const ProposalRequest& request) -> Result<Proposal> {
    if (request.op == Operator::tune && request.ticket.value > 12)
      return Proposal{Refusal{RefusalCode::exhausted, ""}, {}, {}};
    return flaky_nudge(request);
  };
  const auto last = session_options("tune", 100);
  EXPECT_EQ(open_engine(last, events, blocking(noisy_score, 3), blocking(ends, 4)).run()->reason,
            EndReason::exhausted);
  for (const auto& [word, iterations] : {std::pair{"edit", 30}, std::pair{"rewrite", 50}})
    EXPECT_EQ(
        open_engine(session_options(word, iterations), events, blocking(noisy_score, 3), blocking(ends, 4))
            .run()
            ->reason,
        EndReason::budget);
  return events;
}

TEST(Follow, EachTicketIsRepeatedWithThePoliciesThatWereInForce) {
  const auto recording = run_of_three_sessions();
  const auto options = session_options("rewrite", 50);
  const auto whole = no_events();
  ASSERT_EQ(follow(recording, options, whole).end, Followed::End::whole);
  EXPECT_EQ(replayed(options, whole), replayed(options, recording));
  for (std::size_t cut = 0; cut < whole->size(); cut += 7) {
    SCOPED_TRACE("cut behind event " + std::to_string(cut));
    const auto own = prefix(whole, cut);
    auto resumed = options;
    resumed.budgets = *place_in(MemoryJournal(recording), MemoryJournal(own))->budgets;
    ASSERT_EQ(follow(recording, resumed, own).end, Followed::End::whole);
    ASSERT_EQ(replayed(options, own), replayed(options, recording));
  }
  auto other = options;
  other.take_policies = nullptr;
  EXPECT_EQ(follow(recording, other, no_events()).end, Followed::End::parted);
}

TEST(Follow, BehindTheRecordingARunHasItsOwnPolicies) {
  const auto recording = run_of_three_sessions();
  const auto own = no_events();
  auto options = session_options("edit", 60);
  Engine engine = open_engine(options, own, blocking(noisy_score, 2), blocking(flaky_nudge, 2));
  ASSERT_EQ(engine.follow(MemoryJournal(recording), RecordedEvaluations::kept)->end, Followed::End::whole);
  const std::size_t followed = own->size();
  ASSERT_TRUE(engine.renew(options.budgets));
  ASSERT_TRUE(engine.run());
  std::size_t asked = 0;
  for (std::size_t i = followed; i < own->size(); ++i)
    if (const auto* opened = std::get_if<TicketOpened>(&(*own)[i]); opened && opened->op) {
      if (*opened->op == Operator::repair) continue;
      EXPECT_EQ(*opened->op, Operator::edit);
      ++asked;
    }
  EXPECT_GE(asked, 10U);
  EXPECT_EQ(std::get<SessionStarted>((*own)[followed]).settings.at("proposer"), "edit");
}

TEST(Follow, WhatACallWasForecastToCostIsNotAskedAgain) {
  auto options = recorded_options();
  options.budgets = {.iterations = 40, .evaluations = {}, .wall_s = {}, .usd = 0.05};
  options.operators = weighted({{{Operator::edit, ""}, 1}, {{Operator::rewrite, ""}, 1}});
  auto forecasting = options;
  forecasting.forecast_usd = [](const ProposalRequest& request) {
    return std::optional(request.op == Operator::rewrite ? 1 : 0.001);
  };
  const auto recording = no_events();
  const auto paid = [](const ProposalRequest& request) -> Result<Proposal> {
    auto answer = as_proposal(request, nudge(request));
    answer->cost = {.usd = 0.001, .calls = 1};
    return answer;
  };
  const auto outcome = open_engine(forecasting, recording, blocking(noisy_score, 3), blocking(paid, 4)).run();
  ASSERT_EQ(outcome->budget, BudgetName::money) << "no rewrite was affordable";
  ASSERT_TRUE(outcome->confirmation);
  const auto own = no_events();
  EXPECT_EQ(follow(recording, options, own).end, Followed::End::whole);
  EXPECT_EQ(replayed(options, own), replayed(options, recording));
}

TEST(Follow, TheClockIsTheRecordings) {
  auto options = recorded_options();
  options.budgets = {};
  options.budgets.wall_s = 50;
  std::atomic<int> ticks = 0;
  options.clock_s = [&] { return 0.1 * ++ticks; };
  const auto recording = recorded_run(options);
  const auto before = replay(MemoryJournal(recording), options);
  EXPECT_GT(before->migrations(), 5U);
  EXPECT_FALSE(before->confirmations().empty());
  options.clock_s = [] { return 0.0; };
  const auto own = no_events();
  EXPECT_EQ(follow(recording, options, own).end, Followed::End::whole);
  EXPECT_EQ(replayed(options, own), replayed(options, recording));
  EXPECT_EQ(replay(MemoryJournal(own), options)->elapsed_s(), before->elapsed_s());
}

TEST(Follow, AnUnfinishedRecordingIsFollowedToItsEndAndGoesOnLiveWhereAsked) {
  const auto options = recorded_options();
  const auto recording = recorded_run(options);
  const auto half = prefix(recording, recording->size() / 2);
  const auto own = no_events();
  Engine engine = open_engine(options, own, blocking(noisy_score, 2), blocking(flaky_nudge, 2));
  EXPECT_EQ(engine.follow(MemoryJournal(half), RecordedEvaluations::kept)->end, Followed::End::whole);
  EXPECT_EQ(engine.outcome().reason, EndReason::unfinished);
  EXPECT_EQ(text_of(engine), replayed(options, half));
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(engine.outcome().counts.iterations, 40U);
}

TEST(Follow, ARecordingOfAnotherRunIsRefusedAtItsFirstDifference) {
  const auto options = recorded_options();
  auto other = options;
  other.seed = 2;
  const auto followed = follow(recorded_run(options), other, no_events());
  EXPECT_EQ(followed.end, Followed::End::parted);
  const auto own = recorded_run(other);
  EXPECT_EQ(follow(recorded_run(options), other, own).end, Followed::End::parted) << "it never followed it";
}

TEST(Follow, AStopEndsItBetweenTwoSteps) {
  const auto options = recorded_options();
  const auto recording = recorded_run(options);
  const auto own = no_events();
  std::stop_source stop;
  int commits = 0;
  Engine engine = open_engine(options, own);
  const auto followed = engine.follow(
      MemoryJournal(recording), RecordedEvaluations::kept,
      [&](const Commit&) {
        if (++commits == 5) stop.request_stop();
      },
      stop.get_token());
  EXPECT_EQ(followed->end, Followed::End::stopped);
  EXPECT_LT(own->size(), recording->size());
  EXPECT_EQ(engine.follow(MemoryJournal(recording), RecordedEvaluations::kept)->end, Followed::End::whole);
  EXPECT_EQ(text_of(engine), replayed(options, recording));
}

}  // namespace
}  // namespace kernelsmith

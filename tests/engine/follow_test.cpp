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

EngineOptions recorded_options(bool deterministic = false) {
  auto options = toy_options(40);
  options.deterministic = deterministic;
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

TEST(Follow, ADeterministicRunToo) {
  const auto options = recorded_options(true);
  const auto recording = recorded_run(options);
  const auto own = no_events();
  EXPECT_EQ(follow(recording, options, own).end, Followed::End::whole);
  EXPECT_EQ(replayed(options, own), replayed(options, recording));
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

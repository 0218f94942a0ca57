// Trials: what a proposer has evaluated before it answers.

#include <atomic>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include <kernelsmith/core/answer_of.hpp>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

Result<Tried> attempt(const ProposalRequest& request, Trial trial) {
  return answer_of<Tried>([&](auto done) { request.attempt(std::move(trial), std::move(done)); }).get();
}

Child child_of(const ProposalRequest& request, long x) { return *as_proposal(request, number(x))->child(); }

/// Tries three steps and answers with the best of them, confirmed.
Result<Proposal> climb(const ProposalRequest& request) {
  Rng rng = request.rng();
  ProgramPtr best;
  double fitness = -1000;
  for (int i = 0; i < 3; ++i) {
    const long from = number_in(request.selection.parent->program->source);
    auto tried = attempt(request, child_of(request, from + long(rng.below(31)) - 10));
    if (!tried && tried.error().code == ErrorCode::over_budget) break;
    if (!tried) return tried.error();
    if (!tried->evaluation.accepted() || tried->evaluation.metrics()->fitness().median <= fitness) continue;
    best = tried->program;
    fitness = tried->evaluation.metrics()->fitness().median;
  }
  if (!best) return Proposal{Refusal{RefusalCode::no_code, "nothing held"}, {}, {}};
  if (auto confirmed = attempt(request, best->id); !confirmed) {
    const ErrorCode why = confirmed.error().code;
    if (why != ErrorCode::busy && why != ErrorCode::over_budget && why != ErrorCode::not_found)
      return confirmed.error();
  }
  return as_proposal(request, best->source);
}

EngineOptions trial_options(std::uint64_t evaluations) {
  auto options = toy_options(1000);
  options.budgets.evaluations = evaluations;
  options.topology = Topology::ring(2).value();
  options.confirm = true;
  options.evaluations_in_flight = 3;
  options.proposals_in_flight = 2;
  return options;
}

std::size_t evaluated(const Events& events) {
  return static_cast<std::size_t>(std::ranges::count_if(*events, [](const Event& event) {
    const auto* arrived = std::get_if<EvaluationArrived>(&event);
    return arrived && arrived->source == EvaluationSource::evaluated;
  }));
}

TEST(Trials, CountExactlyAndAreRepeatedByteForByte) {
  for (const std::uint64_t budget : {10U, 57U, 200U}) {
    const auto options = trial_options(budget);
    const auto events = no_events();
    auto engine = open_engine(options, events, blocking(noisy_score, 3), blocking(climb, 2));
    const auto outcome = engine.run().value();
    EXPECT_LE(outcome.counts.evaluations, budget);
    EXPECT_GE(outcome.counts.evaluations + 6, budget)
        << "three of a request, and three for rivals of the best";
    EXPECT_EQ(outcome.counts.evaluations, evaluated(events));
    EXPECT_EQ(replayed(options, events), text_of(engine));
    const auto own = no_events();
    auto again = open_engine(options, own);
    const auto followed = again.follow(MemoryJournal(events), RecordedEvaluations::kept).value();
    EXPECT_EQ(followed.end, Followed::End::whole) << (followed.why ? describe(*followed.why) : "");
    EXPECT_EQ(text_of(again), text_of(engine));
  }
}

/// Runs one request by hand.
struct Asked {
  Events events = no_events();
  std::optional<ProposalRequest> request;
  Outcome outcome;

  explicit Asked(const EngineOptions& options, const ProposalFunction& propose) {
    auto engine = open_engine(options, events, blocking(score), blocking(propose));
    outcome = engine.run().value();
  }
};

TEST(Trials, AChildIsAProgramWithinItsTicketAndARepeatIsFree) {
  auto options = toy_options(1);
  std::vector<Tried> tried;
  const Asked run(options, [&](const ProposalRequest& request) -> Result<Proposal> {
    for (const long x : {10, 13, 10, 0}) tried.push_back(attempt(request, child_of(request, x)).value());
    return as_proposal(request, number(10));
  });
  ASSERT_EQ(tried.size(), 4U);
  EXPECT_TRUE(tried[0].evaluation.accepted());
  EXPECT_FALSE(tried[1].evaluation.accepted());
  EXPECT_EQ(tried[2].program->id, tried[0].program->id);
  EXPECT_TRUE(tried[2].repeated && tried[3].repeated);
  EXPECT_EQ(tried[3].program->id, ProgramId{0});
  EXPECT_EQ(run.outcome.counts.evaluations, 3U);  // the seed and two
  EXPECT_EQ(run.outcome.counts.iterations, 1U);
  EXPECT_EQ(run.outcome.counts.repeated, 1U);  // the answer itself
  EXPECT_EQ(run.outcome.best->program->id, tried[0].program->id);
  std::vector<TicketId> within;
  for (const Event& event : *run.events)
    if (const auto* opened = std::get_if<TicketOpened>(&event); opened && opened->within)
      within.push_back(*opened->within);
  EXPECT_THAT(within, ::testing::ElementsAre(TicketId{1}, TicketId{1}));
}

TEST(Trials, CountForTheirArmOnceAsTheAnswer) {
  auto options = toy_options(1);
  const auto events = no_events();
  auto engine = open_engine(options, events, blocking(score),
                            blocking([](const ProposalRequest& request) -> Result<Proposal> {
                              (void)attempt(request, child_of(request, 20));
                              (void)attempt(request, child_of(request, 40));
                              return as_proposal(request, number(40));
                            }));
  ASSERT_TRUE(engine.run());
  engine.inspect([](const SearchState& state) {
    const ArmSums all = state.arms().total().all;
    EXPECT_EQ(all.tries, 1);
    EXPECT_EQ(all.better, 1);
  });
}

TEST(Trials, RefuseWhatCannotBeTried) {
  auto options = toy_options(1);
  std::vector<ErrorCode> codes;
  std::function<void(Trial, std::function<void(Result<Tried>)>)> late;
  Asked(options, [&](const ProposalRequest& request) -> Result<Proposal> {
    const auto refused = [&](Trial trial) {
      codes.push_back(attempt(request, std::move(trial)).error().code);
    };
    refused(ProgramId{99});
    refused(Child{});
    refused(Child{number(5), Origin::user, {ProgramId{99}}});
    late = request.attempt;
    return as_proposal(request, number(5));
  });
  EXPECT_THAT(codes, ::testing::ElementsAre(ErrorCode::not_found, ErrorCode::invalid_argument,
                                            ErrorCode::invalid_argument));
  std::optional<ErrorCode> after;
  late(ProgramId{0}, [&](const Result<Tried>& tried) { after = tried.error().code; });
  EXPECT_EQ(after, ErrorCode::cancelled);  // the run is over: answered at once
  auto deterministic = toy_options(1);
  deterministic.deterministic = true;
  Asked(deterministic, [&](const ProposalRequest& request) -> Result<Proposal> {
    EXPECT_FALSE(request.attempt);
    return as_proposal(request, number(5));
  });
}

TEST(Trials, AProgramThatDoesNotHoldLeavesTheArchive) {
  auto options = toy_options(1);
  const auto events = no_events();
  auto engine = open_engine(
      options, events, blocking([](const EvaluationJob& job) {
        return job.remeasurement ? rejected(Stage::correctness, RejectionCode::wrong_output) : score(job);
      }),
      blocking([](const ProposalRequest& request) -> Result<Proposal> {
        const auto tried = attempt(request, child_of(request, 60)).value();
        EXPECT_FALSE(attempt(request, tried.program->id)->evaluation.accepted());
        return as_proposal(request, number(50));
      }));
  const auto outcome = engine.run().value();
  EXPECT_EQ(number_in(outcome.best->program->source), 50);
  EXPECT_EQ(outcome.counts.demoted, 1U);
}

/// The middle program is the best, and was unlucky when it was measured first.
TEST(Trials, WhatAnAgentConfirmsCountsForItsProgram) {
  const auto measured = [](const EvaluationJob& job) {
    const long x = number_in(job.source);
    if (x == 20 && !job.remeasurement) return accepted({4.6, 4.3, 4.9, 8, "x"});
    return accepted(x == 20 ? Measurement{5.0, 4.95, 5.05, 16, "x"} : Measurement{4.6, 4.5, 4.7, 8, "x"});
  };
  auto options = toy_options(1);
  options.axes.clear();
  options.duels = 0;
  auto engine = open_engine(options, no_events(), blocking(measured),
                            blocking([](const ProposalRequest& request) -> Result<Proposal> {
                              const auto good = attempt(request, child_of(request, 20)).value();
                              (void)attempt(request, child_of(request, 30));
                              (void)attempt(request, good.program->id);
                              return as_proposal(request, number(30));
                            }));
  const auto outcome = engine.run().value();
  EXPECT_EQ(number_in(outcome.best->program->source), 20);
  EXPECT_EQ(outcome.best->evaluation.metrics()->fitness().samples, 24U) << "both measurements count";
}

/// The end needs no answer that has to be evaluated, and the next session goes on.
TEST(Trials, AProposerEndsTheRunWhichMeasuresItsBestAgain) {
  auto options = trial_options(12);  // without rivals, whose number moves
  options.topology = Topology::ring(1).value();
  const auto events = no_events();
  const auto proposer = [&](Engine*& engine, std::vector<std::uint64_t>& left) {
    return [&](const ProposalRequest& request) -> Result<Proposal> {
      const auto look = [&] {
        engine->inspect([&](const SearchState& state) { left.push_back(state.evaluations_left().value()); });
      };
      look();
      const auto tried = attempt(request, child_of(request, 10 + long(request.ticket.value)));
      (void)attempt(request, tried->program->id);
      look();
      return Proposal{Refusal{RefusalCode::finished, "done"}, {}, {}};
    };
  };
  for (const unsigned session : {1U, 2U}) {
    Engine* running = nullptr;
    std::vector<std::uint64_t> left;
    auto one = options;
    one.proposals_in_flight = 1;
    auto engine = open_engine(one, events, blocking(score), blocking(proposer(running, left)));
    running = &engine;
    EXPECT_FALSE(engine.done()) << "session " << session;
    const auto outcome = engine.run().value();
    EXPECT_EQ(outcome.reason, EndReason::finished);
    ASSERT_TRUE(outcome.confirmation) << "session " << session;
    EXPECT_EQ(outcome.counts.iterations, session);
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0] - left[1], 2U) << "a trial and a confirmation";
    EXPECT_EQ(replayed(options, events), text_of(engine));
  }
}

/// Whoever asks until it is lucky shall not change the figure, nor take it away.
TEST(Trials, WhatAnAgentConfirmsLaterLeavesTheRunsOwnFigure) {
  auto options = trial_options(30);
  options.topology = Topology::ring(1).value();
  options.proposals_in_flight = 1;
  const auto events = no_events();
  ProgramId best;
  const auto finish = [](const ProposalRequest&) {
    return Proposal{Refusal{RefusalCode::finished, ""}, {}, {}};
  };
  const auto figure = [&](double fitness, const ProposalFunction& propose) {
    const auto measured = [fitness](const EvaluationJob& job) {
      return job.remeasurement ? accepted({fitness, fitness - 0.1, fitness + 0.1, 8, "x"}) : score(job);
    };
    auto engine = open_engine(options, events, blocking(measured), blocking(propose));
    const auto outcome = engine.run().value();
    best = outcome.best->program->id;
    return outcome.confirmation ? outcome.confirmation->metrics()->fitness().median : 0;
  };
  EXPECT_EQ(figure(5, finish), 5);
  EXPECT_EQ(figure(6,
                   [&](const ProposalRequest& request) -> Result<Proposal> {
                     EXPECT_EQ(attempt(request, best)->evaluation.metrics()->fitness().median, 6);
                     return finish(request);
                   }),
            5);
}

/// Every prefix of the journal is a place where a killed process may have stopped; a prime step meets all
/// kinds of them.
TEST(Trials, AreNeitherLostNorDoubledWhereverTheRunIsCut) {
  const auto options = trial_options(30);
  const auto whole = no_events();
  ASSERT_TRUE(open_engine(options, whole, blocking(noisy_score, 3), blocking(climb, 2)).run());
  for (std::size_t cut = 1; cut < whole->size(); cut += 13) {
    const auto events = no_events();
    events->assign(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(cut));
    // What an append writes it writes whole.
    const auto* opened = std::get_if<TicketOpened>(&events->back());
    if (opened && opened->within && !opened->remeasurement) events->push_back((*whole)[cut]);
    auto engine = open_engine(options, events, blocking(noisy_score, 3), blocking(climb, 2));
    const auto outcome = engine.run();
    ASSERT_TRUE(outcome) << "cut at " << cut << ": " << describe(outcome.error());
    EXPECT_LE(outcome->counts.evaluations, 30U);
    std::set<TicketId> answered;
    for (const Event& event : *events) {
      const auto* arrived = std::get_if<EvaluationArrived>(&event);
      EXPECT_TRUE(!arrived || answered.insert(arrived->ticket).second);
    }
    EXPECT_EQ(replayed(options, events), text_of(engine));
  }
}

TEST(Trials, AnInterruptedRequestIsToldWhatItTried) {
  auto options = toy_options(1);
  const auto events = no_events();
  std::stop_source stop;
  auto first = open_engine(options, events, blocking(score),
                           blocking([&](const ProposalRequest& request) -> Result<Proposal> {
                             (void)attempt(request, child_of(request, 30));
                             stop.request_stop();
                             return fail(ErrorCode::cancelled, "stopped");
                           }));
  ASSERT_TRUE(first.run({}, stop.get_token()));
  std::vector<long> tried;
  std::uint64_t trials = 0;
  auto second = open_engine(options, events, blocking(score),
                            blocking([&](const ProposalRequest& request) -> Result<Proposal> {
                              for (const auto& one : request.tried)
                                tried.push_back(number_in(one->program->source));
                              trials = request.trials;
                              return as_proposal(request, number(30));
                            }));
  ASSERT_TRUE(second.run());
  EXPECT_THAT(tried, ::testing::ElementsAre(30));
  EXPECT_EQ(trials, 1U);
}

TEST(Trials, AreCancelledWhenTheRunStops) {
  auto options = toy_options(1);
  std::stop_source stop;
  std::optional<ErrorCode> code;
  auto engine =
      open_engine(options, no_events(), blocking([&](const EvaluationJob& job) -> Result<Evaluation> {
                    if (number_in(job.source) == 0) return score(job);
                    stop.request_stop();
                    return fail(ErrorCode::cancelled, "stopped");
                  }),
                  blocking([&](const ProposalRequest& request) -> Result<Proposal> {
                    auto tried = attempt(request, child_of(request, 30));
                    if (!tried) code = tried.error().code;
                    return fail(ErrorCode::cancelled, "stopped");
                  }));
  EXPECT_EQ(engine.run({}, stop.get_token())->reason, EndReason::stopped);
  EXPECT_EQ(code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace kernelsmith

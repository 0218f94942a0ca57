// Re-measurements and repairs: the tickets that the engine opens by itself.

#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

Measurement noisy(double median, double half_width) {
  return {median, median - half_width, median + half_width, 5, ""};
}

Evaluation duel(double ratio, double half_width) {
  Report report;
  report.duel = Measurement{ratio, ratio - half_width, ratio + half_width, 5, "x"};
  return Acceptance{Metrics::create(noisy(10, 5)).value(), std::move(report)};
}

/// One cell with a seed of fitness 10 +- 5, and a challenger (program 1) of 11 +- 7.
Engine with_challenger(const EngineOptions& options, const Events& events) {
  Engine engine = open_engine(options, events);
  EXPECT_TRUE(engine.tell(next(engine).id, accepted(noisy(10, 5))));
  const auto commits = engine.tell(next(engine).id, number(1), accepted(noisy(11, 7))).value();
  EXPECT_EQ(commits.front().added, AddStatus::ambiguous);
  EXPECT_FALSE(commits.front().new_best);
  return engine;
}

Evaluation won_by_default() {
  Report report;
  report.incumbent_failed = "it crashed";
  return Acceptance{Metrics::create(noisy(10, 5)).value(), std::move(report)};
}

EngineOptions one_cell(std::uint64_t iterations = 1) {
  auto options = toy_options(iterations);
  options.axes.clear();
  return options;
}

std::uint64_t best_of(const Engine& engine) { return engine.outcome().best->program->id.value; }

TEST(Duel, AnAmbiguousChallengerIsMeasuredAgainst) {
  Engine engine = with_challenger(one_cell(), no_events());
  EXPECT_FALSE(engine.done());
  const Ticket ticket = next(engine);
  const auto& work = std::get<Remeasure>(ticket.work);
  EXPECT_EQ(work.why, Remeasurement::duel);
  EXPECT_EQ(work.challenger->program->id, ProgramId{1});
  EXPECT_EQ(work.incumbent->program->id, ProgramId{0});
  const auto commits = engine.tell(ticket.id, duel(1.2, 0.1)).value();
  EXPECT_EQ(commits.front().kind, CommitKind::remeasured);
  EXPECT_EQ(commits.front().added, AddStatus::improved);
  EXPECT_TRUE(commits.front().new_best);
  EXPECT_EQ(best_of(engine), 1U);
  EXPECT_TRUE(engine.done());
  const auto counts = engine.outcome().counts;
  EXPECT_EQ(counts.iterations, 1U);
  EXPECT_EQ(counts.evaluations, 3U);
  EXPECT_EQ(counts.remeasured, 1U);
}

TEST(Confirm, TheNextBestOfTheCellFollowsWhoeverDoesNotHold) {
  auto options = one_cell(5);
  options.confirm = true;
  options.duels = 0;
  Engine engine = open_engine(options, no_events());
  ASSERT_TRUE(engine.tell(next(engine).id, accepted(Measurement::exact(10))));
  long x = 0;
  for (const double fitness : {70, 90, 80, 80, 40})
    ASSERT_TRUE(engine.tell(next(engine).id, number(++x), accepted(Measurement::exact(fitness))));
  std::vector<std::uint64_t> elites;
  for (const Evaluation& measured : {accepted(Measurement::exact(40)), rejected(), rejected()}) {
    ASSERT_TRUE(engine.tell(next(engine).id, measured));
    engine.inspect(
        [&](const SearchState& state) { elites.push_back(state.archipelago().best()->program->id.value); });
  }
  EXPECT_EQ(elites, (std::vector<std::uint64_t>{3, 4, 1})) << "of equals the older; 2 has 65 by now";
}

TEST(Duel, IsWonByTheRatioOrWhereThereIsNoneByTheIntervals) {
  const struct {
    const char* what;
    Evaluation challenger;
    std::uint64_t best;
    double median;
  } cases[] = {
      {"a lower ratio", duel(0.8, 0.1), 0, 10},
      {"an incumbent that breaks a rule", won_by_default(), 1, 10.5},
      {"no ratio, and a higher interval: both measurements count", accepted(noisy(17, 1)), 1, 14},
      {"a failure", rejected(Stage::correctness, RejectionCode::wrong_output), 0, 10},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    Engine engine = with_challenger(one_cell(), no_events());
    const auto commits = engine.tell(next(engine).id, one.challenger).value();
    EXPECT_EQ(commits.front().added, one.best == 1 ? AddStatus::improved : AddStatus::not_better);
    EXPECT_EQ(best_of(engine), one.best);
    EXPECT_EQ(engine.outcome().best->evaluation.metrics()->fitness().median, one.median);
    EXPECT_TRUE(engine.done());
  }
}

TEST(Duel, NoiseDoesNotLoop) {
  auto options = one_cell();
  options.duels = 3;
  Engine engine = with_challenger(options, no_events());
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(engine.done());
    ASSERT_TRUE(engine.tell(next(engine).id, duel(1.0, 0.1)));
  }
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().counts.remeasured, 3U);
}

TEST(Duel, WithoutDuelsTheLowEndsDecide) {
  auto options = one_cell();
  options.duels = 0;
  Engine engine = with_challenger(options, no_events());
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(best_of(engine), 0U);
}

TEST(Duel, AWinnerByItsLowEndCanLoseItsPlaceAgain) {
  Engine engine = open_engine(one_cell(), no_events());
  ASSERT_TRUE(engine.tell(next(engine).id, accepted(noisy(10, 5))));
  ASSERT_TRUE(engine.tell(next(engine).id, number(1), accepted(noisy(11, 5)))->front().new_best);
  ASSERT_TRUE(engine.tell(next(engine).id, duel(0.8, 0.1)));
  EXPECT_EQ(best_of(engine), 0U);
}

TEST(Duel, EveryMeasurementHasAnAttemptOfItsOwn) {
  const auto events = no_events();
  Engine engine = with_challenger(one_cell(), events);
  ASSERT_TRUE(engine.tell(next(engine).id, duel(1.0, 0.1)));
  ASSERT_TRUE(engine.tell(next(engine).id, duel(1.0, 0.1)));
  std::vector<std::uint32_t> attempts;
  for (const auto& event : *events) {
    const auto* arrived = std::get_if<EvaluationArrived>(&event);
    if (arrived && arrived->program == ProgramId{1}) attempts.push_back(arrived->attempt);
  }
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Duel, DuelsNeedRoomInTheBudget) {
  auto options = one_cell();
  options.budgets = {{}, 2, {}};
  Engine engine = with_challenger(options, no_events());
  EXPECT_TRUE(engine.done());
  EXPECT_FALSE(engine.ask().value());
}

/// A search that confirms its best, as far as a seed of 1 and children of 2, 3, ..., all in one cell.
Engine confirming(EngineOptions& options, const Events& events, long children = 1) {
  options.confirm = true;
  Engine engine = open_engine(options, events);
  EXPECT_TRUE(engine.tell(next(engine).id, accepted(Measurement::exact(1))));
  for (long x = 1; x <= children; ++x)
    EXPECT_TRUE(engine.tell(next(engine).id, number(x), accepted(Measurement::exact(double(x + 1)))));
  return engine;
}

TEST(Confirm, TheBestIsMeasuredAgainAtTheEnd) {
  auto options = one_cell();
  options.budgets.evaluations = 3;
  const auto events = no_events();
  Engine engine = confirming(options, events);
  EXPECT_FALSE(engine.done());
  const Ticket ticket = next(engine);
  EXPECT_EQ(std::get<Remeasure>(ticket.work).why, Remeasurement::confirm);
  EXPECT_EQ(std::get<Remeasure>(ticket.work).challenger->program->id, ProgramId{1});
  ASSERT_TRUE(engine.tell(ticket.id, accepted(Measurement::exact(1.9))));
  EXPECT_TRUE(engine.done());
  ASSERT_TRUE(engine.outcome().confirmation);
  EXPECT_EQ(engine.outcome().confirmation->metrics()->fitness().median, 1.9);
  EXPECT_EQ(engine.outcome().counts.evaluations, 3U);
  EXPECT_TRUE(open_engine(options, events).done());
}

TEST(Confirm, AConfirmationGivenBackIsNotAskedForEver) {
  auto options = one_cell();
  Engine engine = confirming(options, no_events());
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(engine.give_back(next(engine).id, fail(ErrorCode::unstable, "too noisy")));
  EXPECT_TRUE(engine.done());
  EXPECT_FALSE(engine.outcome().confirmation);
}

TEST(Confirm, AConfirmationThatAnErrorEndedIsMadeUp) {
  auto options = one_cell();
  const auto events = no_events();
  Engine engine = confirming(options, events);
  ASSERT_TRUE(engine.give_back(next(engine).id, fail(ErrorCode::unstable, "too noisy")));
  ASSERT_TRUE(engine.tell(next(engine).id, accepted(Measurement::exact(2))));
  EXPECT_TRUE(engine.done());
  EXPECT_TRUE(engine.outcome().confirmation);
  EXPECT_EQ(replayed(options, events), text_of(engine));
}

TEST(Confirm, ABestThatIsRejectedIsDemotedAndTheNextOneIsConfirmed) {
  auto options = one_cell(9);
  options.budgets.evaluations = 4;
  const auto events = no_events();
  Engine engine = confirming(options, events, 2);
  const auto commits =
      engine.tell(next(engine).id, rejected(Stage::correctness, RejectionCode::wrong_output));
  ASSERT_TRUE(commits);
  EXPECT_TRUE(commits->front().demoted);
  EXPECT_FALSE(commits->front().individual->evaluation.accepted());
  EXPECT_EQ(engine.outcome().best->program->id, ProgramId{1}) << "what it had pushed out of its cell is back";
  EXPECT_FALSE(engine.outcome().confirmation);

  ASSERT_FALSE(engine.done());
  const Ticket ticket = next(engine);
  EXPECT_EQ(std::get<Remeasure>(ticket.work).challenger->program->id, ProgramId{1});
  ASSERT_TRUE(engine.tell(ticket.id, accepted(Measurement::exact(1.9))));
  EXPECT_TRUE(engine.done());
  const Outcome outcome = engine.outcome();
  EXPECT_EQ(outcome.confirmation->metrics()->fitness().median, 1.9);
  EXPECT_EQ(outcome.counts.demoted, 1U);
  EXPECT_EQ(outcome.counts.accepted, 2U);
  EXPECT_EQ(outcome.counts.rejected, 1U);
  EXPECT_EQ(replayed(options, events), text_of(engine));
}

TEST(Confirm, WhoWasMeasuredAtTheEndIsTheBestWhateverWasMeasuredBefore) {
  auto options = toy_options(9);
  options.confirm = true;
  options.budgets.evaluations = 3;
  const auto events = no_events();
  Engine engine = open_engine(options, events);
  ASSERT_TRUE(engine.tell(next(engine).id, accepted(Measurement::exact(2), {{"x", 5}})));
  ASSERT_TRUE(engine.tell(next(engine).id, number(1), accepted(Measurement::exact(8), {{"x", 55}})));
  const Ticket last = next(engine);
  EXPECT_EQ(std::get<Remeasure>(last.work).challenger->program->id, ProgramId{1});
  const auto commits = engine.tell(last.id, accepted(Measurement::exact(1), {{"x", 55}})).value();
  EXPECT_FALSE(commits.front().demoted);
  EXPECT_TRUE(engine.done()) << "the budget has no room for the other";
  EXPECT_EQ(best_of(engine), 1U);
  EXPECT_EQ(engine.outcome().confirmation->metrics()->fitness().median, 1);
  EXPECT_EQ(replayed(options, events), text_of(engine));
}

/// A seed of 10 +- 0.5 and children of 12 +- 2 and 11.5 +- 1: the last is the best, the other child within
/// its noise.
Engine before_last_look(const EngineOptions& options, const Events& events) {
  Engine engine = open_engine(options, events);
  EXPECT_TRUE(engine.tell(next(engine).id, accepted(noisy(10, 0.5))));
  EXPECT_TRUE(engine.tell(next(engine).id, number(1), accepted(noisy(12, 2))));
  EXPECT_TRUE(engine.tell(next(engine).id, number(2), accepted(noisy(11.5, 1))));
  return engine;
}

/// Takes the next ticket, which measures `program` again, beside `rival` if there is one.
void look(Engine& engine, std::uint64_t program, std::optional<std::uint64_t> rival, Evaluation answer) {
  const Ticket ticket = next(engine);
  const auto& work = std::get<Remeasure>(ticket.work);
  EXPECT_EQ(work.why, Remeasurement::confirm);
  EXPECT_EQ(work.challenger->program->id, ProgramId{program});
  const auto beside = work.incumbent ? std::optional(work.incumbent->program->id.value) : std::nullopt;
  EXPECT_EQ(beside, rival);
  ASSERT_TRUE(engine.tell(ticket.id, std::move(answer)));
}

Evaluation beside(double ratio, Measurement fitness) {
  Report report;
  report.duel = Measurement{ratio, ratio - 0.01, ratio + 0.01, 16, "x"};
  return Acceptance{Metrics::create(std::move(fitness)).value(), std::move(report)};
}

EngineOptions with_last_look() {
  auto options = one_cell(2);
  options.confirm = true;
  options.duels = 0;
  return options;
}

TEST(LastLook, WhoIsWithinTheNoiseIsMeasuredBesideTheBestAndTheWinnerOnceMore) {
  const struct {
    const char* what;
    Evaluation beside_the_best;
    std::uint64_t winner;
  } cases[] = {
      {"the rival wins by its ratio", beside(1.05, noisy(12.4, 0.3)), 1},
      {"the ratio decides, whatever else the numbers say", beside(0.97, noisy(12.4, 0.3)), 2},
      {"without a ratio the low ends choose", accepted(noisy(11.5, 0.6)), 2},
  };
  const auto options = with_last_look();
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    const auto events = no_events();
    Engine engine = before_last_look(options, events);
    look(engine, 2, {}, accepted(noisy(11.4, 0.3)));
    look(engine, 1, 2, one.beside_the_best);
    EXPECT_EQ(best_of(engine), one.winner) << "named by that measurement alone";
    EXPECT_FALSE(engine.outcome().confirmation) << "what made it win is not its figure";
    look(engine, one.winner, {}, accepted(noisy(11.9, 0.3)));
    EXPECT_TRUE(engine.done());
    EXPECT_EQ(best_of(engine), one.winner);
    EXPECT_EQ(engine.outcome().confirmation->metrics()->fitness().median, 11.9);
    EXPECT_EQ(engine.outcome().counts.evaluations, 6U);
    EXPECT_EQ(replayed(options, events), text_of(engine));
    Engine later = open_engine(options, events);
    EXPECT_TRUE(later.done());
    EXPECT_EQ(best_of(later), one.winner);
  }
}

TEST(LastLook, WhoeverWasComparedIsMeasuredOnceMoreAlsoWithoutNoise) {
  const auto options = with_last_look();
  const auto events = no_events();
  Engine engine = open_engine(options, events);
  ASSERT_TRUE(engine.tell(next(engine).id, accepted(Measurement::exact(1))));
  ASSERT_TRUE(engine.tell(next(engine).id, number(1), accepted(Measurement::exact(3))));
  ASSERT_TRUE(engine.tell(next(engine).id, number(2), accepted(Measurement::exact(2))));
  look(engine, 1, {}, accepted(Measurement::exact(0.5)));
  look(engine, 2, 1, accepted(Measurement::exact(1.5)));
  EXPECT_FALSE(engine.outcome().confirmation) << "it won by that measurement";
  look(engine, 2, {}, accepted(Measurement::exact(1.1)));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().confirmation->metrics()->fitness().median, 1.1);
  EXPECT_EQ(replayed(options, events), text_of(engine));
}

TEST(LastLook, ALeaderThatFailsBesideARivalHasToShowThatItHolds) {
  Engine engine = before_last_look(with_last_look(), no_events());
  look(engine, 2, {}, accepted(noisy(11.4, 0.3)));
  Report report;
  report.incumbent_failed = "wrong";
  look(engine, 1, 2, Acceptance{Metrics::create(noisy(11.3, 0.3)).value(), std::move(report)});
  EXPECT_EQ(best_of(engine), 1U);
  look(engine, 2, 1, rejected());
  look(engine, 1, {}, accepted(noisy(11.2, 0.3)));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().counts.demoted, 1U);
}

/// All programs are alike, and whoever is measured again gets `again`.
void run_to_its_end(Engine& engine, const Evaluation& again) {
  long x = 0;
  while (!engine.done()) {
    const Ticket ticket = next(engine);
    if (std::holds_alternative<Remeasure>(ticket.work))
      ASSERT_TRUE(engine.tell(ticket.id, again));
    else if (ticket.id == TicketId{0})
      ASSERT_TRUE(engine.tell(ticket.id, accepted(noisy(10, 1))));
    else
      ASSERT_TRUE(engine.tell(ticket.id, number(++x), accepted(noisy(10, 1))));
  }
}

TEST(LastLook, FewProgramsAreMeasuredWhenNoneHolds) {
  auto options = with_last_look();
  options.budgets = {100, 60, {}};
  Engine engine = open_engine(options, no_events());
  run_to_its_end(engine, rejected());
  EXPECT_LE(engine.outcome().counts.evaluations, 60U + 6U);
}

TEST(LastLook, FewEvaluationsAreNotSpentOnRivals) {
  auto options = with_last_look();
  options.budgets.evaluations = 6;
  Engine engine = before_last_look(options, no_events());
  look(engine, 2, {}, accepted(noisy(11.4, 0.3)));
  EXPECT_TRUE(engine.done());
}

TEST(LastLook, TheBudgetKeepsItsEvaluations) {
  auto options = with_last_look();
  options.budgets = {100, 60, {}};
  Engine engine = open_engine(options, no_events());
  run_to_its_end(engine, beside(1.01, noisy(10, 1)));
  EXPECT_EQ(engine.outcome().counts.evaluations, 60U);
  EXPECT_EQ(engine.outcome().counts.remeasured, 5U) << "the best, three rivals, and the winner once more";
}

TEST(LastLook, ARivalThatDoesNotHoldIsDemotedAndALaterBestIsLookedAt) {
  auto options = with_last_look();
  const auto events = no_events();
  {
    Engine engine = before_last_look(options, events);
    look(engine, 2, {}, accepted(noisy(11.4, 0.3)));
    look(engine, 1, 2, rejected(Stage::correctness, RejectionCode::wrong_output));
    EXPECT_TRUE(engine.done());
    EXPECT_EQ(best_of(engine), 2U);
    EXPECT_EQ(engine.outcome().counts.demoted, 1U);
  }
  options.budgets.iterations = 3;
  Engine engine = open_engine(options, events);
  ASSERT_TRUE(engine.tell(next(engine).id, number(4), accepted(noisy(20, 1))));
  EXPECT_EQ(best_of(engine), 5U);
  look(engine, 5, 2, beside(1.6, noisy(19.5, 1)));
  look(engine, 5, {}, accepted(noisy(19, 1)));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().confirmation->metrics()->fitness().median, 19);
  EXPECT_EQ(replayed(options, events), text_of(engine));
}

TEST(Confirm, NoBestIsLeftWhereNoneHolds) {
  auto options = one_cell(9);
  options.budgets.evaluations = 4;
  Engine engine = confirming(options, no_events(), 2);
  for (const std::uint64_t program : {2, 1, 0}) {
    const Ticket ticket = next(engine);
    EXPECT_EQ(std::get<Remeasure>(ticket.work).challenger->program->id, ProgramId{program});
    ASSERT_TRUE(engine.tell(ticket.id, rejected()));
  }
  EXPECT_TRUE(engine.done());
  EXPECT_FALSE(engine.outcome().best);
  EXPECT_EQ(engine.outcome().reason, EndReason::budget);
  EXPECT_EQ(engine.outcome().counts.demoted, 3U);
}

TEST(Confirm, ADemotedProgramFightsNoDuelsInALaterSession) {
  auto options = one_cell(9);
  options.confirm = true;
  options.budgets.evaluations = 3;
  const auto events = no_events();
  {
    Engine engine = open_engine(options, events);
    ASSERT_TRUE(engine.tell(next(engine).id, accepted({1, 0.8, 1.2, 5, ""})));
    ASSERT_TRUE(engine.tell(next(engine).id, number(1), accepted({1.1, 0.7, 1.5, 5, ""})));
    ASSERT_TRUE(engine.tell(next(engine).id, rejected())) << "the seed, which the child's duel is against";
    EXPECT_EQ(engine.outcome().best->program->id, ProgramId{1});
  }
  options.budgets.evaluations = 5;
  Engine engine = open_engine(options, events);
  EXPECT_TRUE(std::holds_alternative<Propose>(next(engine).work));
}

Engine with_a_rejected_child(unsigned repairs) {
  auto options = toy_options(1);
  options.repairs = repairs;
  Engine engine = open_engine(options, no_events());
  EXPECT_TRUE(engine.tell(next(engine).id, score_of(0)));
  EXPECT_TRUE(engine.tell(next(engine).id, number(13), score_of(13)));
  return engine;
}

TEST(Repair, ARejectedChildIsRepairedABoundedNumberOfTimes) {
  Engine engine = with_a_rejected_child(2);
  for (const std::uint64_t parent : {1, 2}) {
    ASSERT_FALSE(engine.done());
    const Ticket ticket = next(engine);
    const auto& work = std::get<Propose>(ticket.work);
    EXPECT_EQ(work.op, Operator::repair);
    EXPECT_EQ(work.selection.parent->program->id, ProgramId{parent});
    EXPECT_FALSE(work.selection.parent->evaluation.accepted());
    for (const auto& failure : work.selection.failures) EXPECT_NE(failure, work.selection.parent);
    ASSERT_TRUE(engine.tell(ticket.id, number(long(13 + 10 * parent)), rejected()));
  }
  EXPECT_TRUE(engine.done());
  const auto counts = engine.outcome().counts;
  EXPECT_EQ(counts.iterations, 1U);
  EXPECT_EQ(counts.repairs, 2U);
  EXPECT_EQ(counts.evaluations, 4U);
}

TEST(Repair, ARepairedChildNeedsNoFurtherRepair) {
  Engine engine = with_a_rejected_child(2);
  const auto commits = engine.tell(next(engine).id, number(14), score_of(14)).value();
  EXPECT_EQ(commits.front().individual->program->parents, (std::vector<ProgramId>{{1}}));
  EXPECT_TRUE(engine.done());
}

TEST(Repair, ByDefaultNothingIsRepaired) {
  EXPECT_TRUE(with_a_rejected_child(toy_options(1).repairs).done());
}

}  // namespace
}  // namespace kernelsmith

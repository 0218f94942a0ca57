// Own loops: what ask, tell and give_back accept, refuse and spend.

#include <thread>

#include <gtest/gtest.h>

#include "notices.hpp"
#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

std::vector<std::uint64_t> ids_of(const std::vector<IndividualPtr>& individuals) {
  std::vector<std::uint64_t> ids;
  for (const auto& one : individuals) ids.push_back(one->program->id.value);
  return ids;
}

/// Asks for the seed's ticket and tells it.
void tell_seed(Engine& engine) {
  const Ticket ticket = next(engine);
  ASSERT_TRUE(engine.tell(ticket.id, score_of(number_in(std::get<Evaluate>(ticket.work).child.source))));
}

TEST(AskTell, TheSeedComesFirstAndNothingElseUntilItIsTold) {
  Engine engine = open_engine(toy_options(), no_events());
  const Ticket ticket = next(engine);
  EXPECT_EQ(ticket.id, TicketId{0});
  const auto* work = std::get_if<Evaluate>(&ticket.work);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->child.source, number(0));
  EXPECT_FALSE(engine.ask().value());
  EXPECT_FALSE(engine.done());
  const auto commits = engine.tell(ticket.id, score_of(0)).value();
  ASSERT_EQ(commits.size(), 1U);
  EXPECT_EQ(commits.front().kind, CommitKind::evaluated);
  EXPECT_EQ(commits.front().fitness, 30);
  EXPECT_TRUE(commits.front().new_best);
  EXPECT_EQ(commits.front().added, AddStatus::new_cell);
  EXPECT_TRUE(std::holds_alternative<Propose>(next(engine).work));
  EXPECT_EQ(engine.outcome().counts.iterations, 0U);
  EXPECT_EQ(engine.outcome().counts.evaluations, 1U);
}

TEST(AskTell, TheLoopOfTheDesignReads) {
  auto options = toy_options(5);
  options.seeds.clear();
  Engine engine = open_engine(options, no_events());
  long x = 0;
  while (!engine.done()) {
    if (auto t = engine.ask().value()) {
      ++x;
      ASSERT_TRUE(engine.tell(t->id, number(x), score_of(x)));
    }
  }
  EXPECT_EQ(engine.outcome().reason, EndReason::budget);
  EXPECT_EQ(engine.outcome().counts.iterations, 5U);
  EXPECT_EQ(number_in(engine.outcome().best->program->source), 5);
}

TEST(AskTell, WithoutSeedsTranslateUntilSomethingIsAccepted) {
  auto options = toy_options(3);
  options.seeds.clear();
  Engine engine = open_engine(options, no_events());
  const auto op = [](const Ticket& ticket) { return std::get<Propose>(ticket.work).op; };
  Ticket ticket = next(engine);
  EXPECT_EQ(op(ticket), Operator::translate);
  EXPECT_FALSE(std::get<Propose>(ticket.work).selection.parent);
  ASSERT_TRUE(engine.tell(ticket.id, number(3), score_of(3)));
  ticket = next(engine);
  EXPECT_EQ(op(ticket), Operator::translate);
  EXPECT_TRUE(std::get<Propose>(ticket.work).selection.parent) << "the rejected one, with its error";
  ASSERT_TRUE(engine.tell(ticket.id, number(4), score_of(4)));
  ticket = next(engine);
  EXPECT_EQ(op(ticket), Operator::rewrite);
  EXPECT_EQ(std::get<Propose>(ticket.work).selection.parent->program->source, number(4));
}

TEST(AskTell, NoMoreTranslationsAreUnderWayThanIslandsAndFailuresAskFor) {
  auto options = toy_options(20);
  options.seeds.clear();
  options.topology = Topology::ring(2).value();
  Engine engine = open_engine(options, no_events());
  const auto op = [](const Ticket& ticket) { return std::get<Propose>(ticket.work).op; };
  const Ticket first = next(engine), second = next(engine);
  EXPECT_FALSE(engine.ask().value()) << "one for each island";
  ASSERT_TRUE(engine.tell(first.id, number(3), score_of(3)));
  const Ticket third = next(engine), fourth = next(engine);
  EXPECT_EQ(op(fourth), Operator::translate) << "one that was rejected asks for another one";
  EXPECT_FALSE(engine.ask().value());
  ASSERT_TRUE(engine.tell(second.id, number(4), score_of(4)));
  ASSERT_TRUE(engine.tell(third.id, number(6), score_of(6)));
  EXPECT_NE(op(next(engine)), Operator::translate);
}

TEST(AskTell, AnOpeningWithoutASeedCountsTheSameBinaryAsAFailure) {
  auto options = toy_options(100);
  options.seeds.clear();
  options.sampler = std::make_shared<TreeSampler>(TreeSampler::create({.opening = 5}).value());
  Engine engine = open_engine(options, no_events());
  const auto begun = [&] {  // the tickets that can be had now: T for a translation from the reference alone
    std::string ops;
    std::vector<TicketId> tickets;
    while (const auto ticket = engine.ask().value()) {
      const auto& work = std::get<Propose>(ticket->work);
      const bool accepted_parent = work.selection.parent && work.selection.parent->evaluation.accepted();
      ops += work.op == Operator::translate && !accepted_parent ? "T" : "-";
      tickets.push_back(ticket->id);
      if (ops.back() == '-') break;  // as many as anybody wants
    }
    return std::pair(ops, tickets);
  };
  const auto tell = [&](TicketId ticket, long x, const char* binary) {
    return engine.tell(ticket, number(x), of_binary(binary, score_of(x)))->front().kind;
  };
  const auto first = begun();
  EXPECT_EQ(first.first, "TTTTT");
  tell(first.second[0], 3, "rejected");
  EXPECT_EQ(begun().first, "TT") << "five and one for the failure, and four were under way";
  EXPECT_EQ(tell(first.second[1], 10, "a"), CommitKind::evaluated);
  EXPECT_EQ(begun().first, "-") << "four are waited for, one failed, and five are under way";
  EXPECT_EQ(tell(first.second[2], 11, "a"), CommitKind::repeated);
  EXPECT_EQ(begun().first, "TT-") << "until the opening has had its tickets";
}

TEST(AskTell, TellingTwiceIsRefused) {
  Engine engine = open_engine(toy_options(), no_events());
  tell_seed(engine);
  const Ticket ticket = next(engine);
  ASSERT_TRUE(engine.tell(ticket.id, number(5), score_of(5)));
  const auto before = text_of(engine);
  EXPECT_EQ(engine.tell(ticket.id, number(6), score_of(6)).error().code, ErrorCode::already_told);
  EXPECT_EQ(engine.tell(ticket.id, score_of(6)).error().code, ErrorCode::already_told);
  EXPECT_EQ(engine.tell(ticket.id, Refusal{}).error().code, ErrorCode::already_told);
  EXPECT_EQ(engine.give_back(ticket.id, {}).error().code, ErrorCode::already_told);
  EXPECT_EQ(text_of(engine), before);
}

TEST(AskTell, AnUnknownTicketIsRefused) {
  Engine engine = open_engine(toy_options(), no_events());
  EXPECT_EQ(engine.tell(TicketId{99}, number(5), score_of(5)).error().code, ErrorCode::unknown_ticket);
  EXPECT_EQ(engine.give_back(TicketId{99}, {}).error().code, ErrorCode::unknown_ticket);
}

TEST(AskTell, AnAnswerMustFitItsTicket) {
  Engine engine = open_engine(toy_options(), no_events());
  const Ticket seed = next(engine);
  EXPECT_EQ(engine.tell(seed.id, number(9), score_of(9)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(engine.tell(seed.id, Refusal{}).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(engine.tell(seed.id, number(0), score_of(0))) << "the child that is there already";
  const Ticket ticket = next(engine);
  EXPECT_EQ(engine.tell(ticket.id, score_of(5)).error().code, ErrorCode::invalid_argument);
  const Child orphan{number(5), Origin::user, {ProgramId{77}}};
  EXPECT_EQ(engine.tell(ticket.id, orphan, score_of(5)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(engine.tell(ticket.id, Source(), score_of(5)).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(engine.tell(ticket.id, number(5), score_of(5)));
}

TEST(AskTell, TicketsAreToldInAnyOrder) {
  Engine engine = open_engine(toy_options(2), no_events());
  tell_seed(engine);
  const Ticket first = next(engine);
  const Ticket second = next(engine);
  EXPECT_FALSE(engine.ask().value()) << "the budget is reserved";
  EXPECT_FALSE(engine.done());
  ASSERT_TRUE(engine.tell(second.id, number(12), score_of(12)));
  ASSERT_TRUE(engine.tell(first.id, number(5), score_of(5)));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().counts.accepted, 3U);
}

TEST(AskTell, ARefusalSpendsAnIterationAndNoEvaluation) {
  Engine engine = open_engine(toy_options(1), no_events());
  tell_seed(engine);
  const auto commits = engine.tell(next(engine).id, Refusal{RefusalCode::declined, "no"}).value();
  ASSERT_EQ(commits.size(), 1U);
  EXPECT_EQ(commits.front().kind, CommitKind::refused);
  EXPECT_EQ(commits.front().refusal, (Refusal{RefusalCode::declined, "no"}));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().counts.refused, 1U);
  EXPECT_EQ(engine.outcome().refusals.size(), 1U);
  EXPECT_EQ(engine.outcome().refusals.begin()->second, 1U);
  EXPECT_EQ(engine.outcome().counts.evaluations, 1U);
}

TEST(AskTell, ATicketGivenBackUsesUpNoBudget) {
  Engine engine = open_engine(toy_options(1), no_events());
  tell_seed(engine);
  const auto error = fail(ErrorCode::unstable, "too noisy");
  const auto commits = engine.give_back(next(engine).id, error).value();
  EXPECT_EQ(commits.front().error, error);
  EXPECT_FALSE(engine.done());
  const Ticket again = next(engine);
  EXPECT_EQ(again.id, TicketId{2});
  ASSERT_TRUE(engine.tell(again.id, number(5), score_of(5)));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().counts.given_back, 1U);
  EXPECT_EQ(engine.outcome().counts.iterations, 1U);
}

TEST(AskTell, ARepeatIsAnsweredFromTheCache) {
  const auto events = no_events();
  Engine engine = open_engine(toy_options(2), events);
  tell_seed(engine);
  ASSERT_TRUE(engine.tell(next(engine).id, number(5), score_of(5)));
  const auto commits = engine.tell(next(engine).id, number(5), score_of(70)).value();
  EXPECT_EQ(commits.front().kind, CommitKind::repeated);
  EXPECT_EQ(commits.front().individual->program->id, ProgramId{1});
  EXPECT_EQ(commits.front().fitness, 35) << "the first evaluation stands";
  const auto counts = engine.outcome().counts;
  EXPECT_EQ(counts.iterations, 2U);
  EXPECT_EQ(counts.evaluations, 2U);
  EXPECT_EQ(counts.repeated, 1U);
  EXPECT_EQ(std::get<EvaluationArrived>(events->back()).source, EvaluationSource::cached);
  engine.inspect([](const SearchState& state) { EXPECT_EQ(state.programs().size(), 2U); });
}

TEST(AskTell, AnAxisThatNobodyReportsIsNamedAtTheFirstAcceptance) {
  const auto listener = std::make_shared<Notices>();
  auto options = toy_options();
  options.seeds = {number(3)};
  options.seeds_must_pass = false;
  options.axes = {{"x", LinearScale{0, 100, 10}},
                  {"fitness", LinearScale{0, 100, 10}},
                  {"registers", LinearScale{0, 100, 10}}};
  options.observer = listener;
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  EXPECT_TRUE(listener->messages.empty()) << "a rejection has no features";
  ASSERT_TRUE(engine.tell(next(engine).id, number(5), score_of(5)));
  ASSERT_EQ(listener->messages.size(), 1U);
  EXPECT_EQ(
      listener->messages.front(),
      "nothing reported the archive's axis \"registers\" for the first accepted program: programs without "
      "it share the axis's first bin. There are: fitness, x");
  ASSERT_TRUE(engine.tell(next(engine).id, number(6), score_of(6)));
  EXPECT_EQ(listener->messages.size(), 1U);
}

TEST(AskTell, ARequestBringsTheParentsKin) {
  auto options = toy_options();
  options.axes = {};
  options.kin = 2;
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  // Each is the best when the next one is asked for; 4, 5 and 6 are not.
  for (const long x : {10, 20, 30, 25, 23, 24, 22})
    ASSERT_TRUE(engine.tell(next(engine).id, number(x), score_of(x)));
  const Ticket ticket = next(engine);
  const Selection& selection = std::get<Propose>(ticket.work).selection;
  EXPECT_EQ(selection.parent->program->id, ProgramId{3});
  EXPECT_EQ(ids_of(selection.kin), (std::vector<std::uint64_t>{2, 1, 7, 6}))
      << "two ancestors, and the latest accepted children";
}

TEST(AskTell, ARequestBringsTheRunsHistory) {
  auto options = toy_options();
  options.sampler = nullptr;  // its opening draws the seed, and shows nothing beside it
  options.history = 3;
  const auto events = no_events();
  Engine engine = open_engine(options, events);
  tell_seed(engine);
  for (const long x : {10, 30, 13, 20, 5}) ASSERT_TRUE(engine.tell(next(engine).id, number(x), score_of(x)));
  const Ticket asked = next(engine);
  Engine resumed = open_engine(options, prefix(events, events->size()));
  for (const Ticket& ticket : {asked, next(resumed)}) {
    const Selection& selection = std::get<Propose>(ticket.work).selection;
    EXPECT_EQ(selection.parent->program->id, ProgramId{0});
    EXPECT_TRUE(selection.top.empty());
    EXPECT_EQ(selection.past.evaluated, 6U);
    EXPECT_EQ(ids_of(selection.past.best), (std::vector<std::uint64_t>{2, 4, 1}));
    EXPECT_EQ(ids_of(selection.past.latest), (std::vector<std::uint64_t>{5, 4, 3}));
    EXPECT_FALSE(selection.past.latest.back()->evaluation.accepted());
  }
}

TEST(AskTell, TheFingerprintDecidesWhatIsARepeat) {
  auto options = toy_options(2);
  options.fingerprint = [](const Source& source) {
    return digest_of(std::to_string(number_in(source) / 10));
  };
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  EXPECT_EQ(engine.tell(next(engine).id, number(9), score_of(9))->front().kind, CommitKind::repeated);
  EXPECT_EQ(engine.tell(next(engine).id, number(10), score_of(10))->front().kind, CommitKind::evaluated);
}

TEST(AskTell, EvaluationsAreABudgetToo) {
  auto options = toy_options();
  options.budgets = {{}, 3, {}};
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  ASSERT_TRUE(engine.tell(next(engine).id, number(5), score_of(5)));
  ASSERT_TRUE(engine.tell(next(engine).id, number(5), score_of(5))) << "a repeat, free";
  ASSERT_TRUE(engine.tell(next(engine).id, number(6), score_of(6)));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().counts.iterations, 3U);
}

TEST(AskTell, WallTimeIsABudgetOverAllSessions) {
  double now = 1000;
  auto options = toy_options();
  options.budgets = {{}, {}, 10};
  options.clock_s = [&] { return now; };
  const auto events = no_events();
  {
    Engine engine = open_engine(options, events);
    tell_seed(engine);
    const Ticket ticket = next(engine);
    now += 6;
    ASSERT_TRUE(engine.tell(ticket.id, number(5), score_of(5)));
    EXPECT_FALSE(engine.done());
  }
  now = 0;
  Engine engine = open_engine(options, events);
  EXPECT_EQ(engine.outcome().elapsed_s, 6);
  const Ticket ticket = next(engine);
  now += 4;
  EXPECT_FALSE(engine.ask().value());
  EXPECT_FALSE(engine.done()) << "what was begun is finished";
  ASSERT_TRUE(engine.tell(ticket.id, number(6), score_of(6)));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().reason, EndReason::budget);
}

TEST(AskTell, RepeatsAndRefusalsWithoutEndEndTheRun) {
  auto options = toy_options(1000);
  options.idle_iterations = 3;
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine.tell(next(engine).id, Refusal{RefusalCode::exhausted, ""}));
  EXPECT_TRUE(engine.done());
  EXPECT_EQ(engine.outcome().reason, EndReason::exhausted);
}

TEST(AskTell, ARejectedSeedEndsTheRun) {
  auto options = toy_options();
  options.seeds = {number(3)};
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  EXPECT_TRUE(engine.done());
  const auto outcome = engine.outcome();
  EXPECT_EQ(outcome.reason, EndReason::refused);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::refused);
  EXPECT_EQ(outcome.error->where, "x.txt");
  EXPECT_NE(outcome.error->message.find("compile_failed"), std::string::npos);
  EXPECT_EQ(outcome.error->hint, "correct the seed, or what evaluates it");
}

TEST(AskTell, ARejectedSeedMayBeLeftOutBesideAReference) {
  auto options = toy_options();
  options.seeds = {number(3)};
  options.has_reference = true;
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  EXPECT_EQ(engine.outcome().error->hint, "correct the seed, or leave it out to begin from the reference");
}

TEST(AskTell, ASeedJoinsEveryIslandAndMigrationFollowsProgress) {
  auto options = toy_options(10);
  options.topology = Topology::ring(2).value();
  options.migration_period = 0.5;
  const auto events = no_events();
  Engine engine = open_engine(options, events);
  tell_seed(engine);
  engine.inspect([](const SearchState& state) {
    for (std::uint32_t i = 0; i < 2; ++i) EXPECT_TRUE(state.archipelago().island({i}).archive().best());
  });
  long x = 10;
  while (!engine.done()) {
    const Ticket ticket = next(engine);
    EXPECT_EQ(ticket.island.value, ticket.id.value % 2);
    ++x;
    ASSERT_TRUE(engine.tell(ticket.id, number(x), score_of(x)));
  }
  std::vector<PeriodCrossed> crossings;
  for (const auto& event : *events) {
    if (const auto* crossed = std::get_if<PeriodCrossed>(&event)) crossings.push_back(*crossed);
  }
  ASSERT_EQ(crossings.size(), 2U);
  EXPECT_EQ(crossings[0], (PeriodCrossed{"migration", 1, TicketId{5}}));
  EXPECT_EQ(crossings[1], (PeriodCrossed{"migration", 2, TicketId{10}}));
  EXPECT_EQ(text_of(engine), replayed(options, events));
}

TEST(AskTell, DescribeFeedsTheAxes) {
  auto options = toy_options(1);
  options.axes = {{"tens", LinearScale{0, 10, 10}}};
  options.describe = [](const Source& source, const Evaluation&) {
    return std::map<std::string, double>{{"tens", double(number_in(source)) / 10}};
  };
  Engine engine = open_engine(options, no_events());
  tell_seed(engine);
  EXPECT_EQ(engine.tell(next(engine).id, number(55), score_of(55))->front().added, AddStatus::new_cell);
  engine.inspect(
      [](const SearchState& state) { EXPECT_TRUE(state.archipelago().island({0}).archive().find(Cell{5})); });
}

TEST(AskTell, ThreadsMayShareAnEngine) {
  const auto options = toy_options(200);
  const auto events = no_events();
  Engine engine = open_engine(options, events);
  tell_seed(engine);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (!engine.done()) {
          const auto ticket = engine.ask().value();
          if (!ticket) continue;
          const long x = long(ticket->id.value * 37 % 100);
          EXPECT_TRUE(engine.tell(ticket->id, number(x), score_of(x)));
        }
      });
    }
  }
  EXPECT_EQ(engine.outcome().counts.iterations, 200U);
  EXPECT_EQ(text_of(engine), replayed(options, events));
}

TEST(AskTell, AFullJournalLosesNothing) {
  const auto events = no_events();
  auto journal = std::make_unique<MemoryJournal>(events, 5);
  Engine engine = Engine::create(std::move(journal), toy_options()).value();
  tell_seed(engine);
  const Ticket ticket = next(engine);
  const auto before = text_of(engine);
  EXPECT_EQ(engine.tell(ticket.id, number(5), score_of(5)).error().code, ErrorCode::disk_full);
  EXPECT_EQ(text_of(engine), before);
  Engine resumed = open_engine(toy_options(), events);
  EXPECT_EQ(next(resumed).id, ticket.id);
  EXPECT_TRUE(resumed.tell(ticket.id, number(5), score_of(5)));
}

TEST(Options, WhatIsOutOfRangeIsRefusedByName) {
  const auto refused = [](auto change) {
    auto options = toy_options();
    change(options);
    auto engine = Engine::create(std::make_unique<MemoryJournal>(no_events()), options);
    EXPECT_FALSE(engine);
    if (engine) return std::string("accepted");
    EXPECT_EQ(engine.error().code, ErrorCode::invalid_argument);
    return engine.error().where;
  };
  EXPECT_EQ(refused([](auto& o) { o.budgets = {}; }), "budgets");
  EXPECT_EQ(refused([](auto& o) { o.budgets.iterations = 0; }), "budgets.iterations");
  EXPECT_EQ(refused([](auto& o) { o.budgets.wall_s = -1; }), "budgets.wall_s");
  EXPECT_EQ(refused([](auto& o) { o.deterministic = true, o.budgets.wall_s = 5; }), "budgets.wall_s");
  EXPECT_EQ(refused([](auto& o) { o.pipeline = 0; }), "pipeline");
  EXPECT_EQ(refused([](auto& o) { o.migration_period = 0; }), "migration_period");
  EXPECT_EQ(refused([](auto& o) { o.proposals_in_flight = 0; }), "proposals_in_flight");
  EXPECT_EQ(refused([](auto& o) { o.answer_timeout_s = 0; }), "answer_timeout_s");
  EXPECT_EQ(refused([](auto& o) { o.axes = {{"", LinearScale{}}}; }), "");
}

TEST(Options, ARunKeepsItsSettings) {
  const auto events = no_events();
  { open_engine(toy_options(), events); }
  auto other = toy_options();
  other.seed = 2;
  const auto engine = Engine::create(std::make_unique<MemoryJournal>(events), other);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(engine.error().where, "seed");
  auto of_another_task = toy_options();
  of_another_task.task = DigestBuilder().add("another").finish();
  const auto confused = Engine::create(std::make_unique<MemoryJournal>(events), of_another_task);
  ASSERT_FALSE(confused);
  EXPECT_EQ(confused.error().where, "task");
  EXPECT_TRUE(Engine::create(std::make_unique<MemoryJournal>(events), toy_options(99)))
      << "budgets may change";
}

TEST(Outcome, TellsWhatTheEngineItselfTook) {
  Engine engine = open_engine(toy_options(1), no_events());
  const double before_s = engine.outcome().engine_s;
  tell_seed(engine);
  const Outcome outcome = engine.outcome();
  EXPECT_GT(outcome.engine_s, before_s);
  EXPECT_LT(outcome.engine_s, outcome.session_s);
}

}  // namespace
}  // namespace kernelsmith

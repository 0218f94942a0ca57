// Determinism, resuming and replay: a run may be cut between any two events.

#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

EngineOptions eventful_options(bool deterministic) {
  auto options = toy_options(30);
  options.seeds = {number(0), number(40)};
  options.deterministic = deterministic;
  options.pipeline = 4;
  options.topology = Topology::ring(2).value();
  options.migration_period = 0.03;
  options.repairs = 1;
  options.duels = 2;
  options.confirm = true;
  return options;
}

/// Refuses now and then, and is pure in the request.
Result<Proposal> moody_nudge(const ProposalRequest& request) {
  if (request.ticket.value % 11 == 5) return Proposal{Refusal{RefusalCode::declined, ""}, {}, {}};
  return as_proposal(request, nudge(request));
}

std::string run_to_the_end(const EngineOptions& options, const Events& events, unsigned workers) {
  Engine engine =
      open_engine(options, events, blocking(noisy_score, workers), blocking(moody_nudge, workers));
  const auto outcome = engine.run();
  EXPECT_TRUE(outcome);
  EXPECT_EQ(outcome->counts.iterations, 30U);
  EXPECT_TRUE(engine.done());
  auto text = text_of(engine);
  EXPECT_EQ(text, replayed(options, events));
  return text;
}

TEST(Replay, TheRunIsEventful) {
  const auto events = no_events();
  run_to_the_end(eventful_options(true), events, 1);
  const auto counts = replay(MemoryJournal(events), eventful_options(true))->counts();
  EXPECT_GT(counts.rejected, 0U);
  EXPECT_GT(counts.same_binary, 0U);
  EXPECT_GT(counts.repeated, counts.same_binary);
  EXPECT_GT(counts.refused, 0U);
  EXPECT_GT(counts.repairs, 0U);
  EXPECT_GT(counts.remeasured, 1U);
}

TEST(Replay, DeterministicRunsDependOnNoNumberOfWorkers) {
  auto options = eventful_options(true);
  const auto one = run_to_the_end(options, no_events(), 1);
  options.evaluations_in_flight = 4;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run_to_the_end(options, no_events(), 4), one);
  options.seed = 2;
  EXPECT_NE(run_to_the_end(options, no_events(), 1), one);
}

void expect_the_same_wherever_it_is_cut(const EngineOptions& options) {
  const auto whole = no_events();
  const auto expected = run_to_the_end(options, whole, 4);
  for (std::size_t cut = 0; cut <= whole->size(); ++cut) {
    SCOPED_TRACE("cut behind event " + std::to_string(cut));
    ASSERT_EQ(run_to_the_end(options, prefix(whole, cut), 2), expected);
  }
}

TEST(Replay, ADeterministicRunCutAnywhereEndsInTheSameArchive) {
  expect_the_same_wherever_it_is_cut(eventful_options(true));
}

TEST(Replay, SoDoesOneOfATreeWhoseOpeningIsCut) {
  auto options = eventful_options(true);
  options.sampler = std::make_shared<TreeSampler>(TreeSampler::create().value());
  expect_the_same_wherever_it_is_cut(options);
}

TEST(Replay, SoDoesOneThatBeginsWithTranslations) {
  auto options = eventful_options(true);
  options.seeds.clear();
  options.sampler = std::make_shared<TreeSampler>(TreeSampler::create().value());
  expect_the_same_wherever_it_is_cut(options);
}

TEST(Replay, AFreeRunCutAnywhereLosesAndDoublesNothing) {
  const auto options = eventful_options(false);
  const auto whole = no_events();
  run_to_the_end(options, whole, 2);
  for (std::size_t cut = 0; cut <= whole->size(); ++cut) {
    SCOPED_TRACE("cut behind event " + std::to_string(cut));
    const auto events = prefix(whole, cut);
    std::set<TicketId> proposed, told;
    for (const auto& event : *events) {
      if (const auto* one = std::get_if<ProposalArrived>(&event)) proposed.insert(one->ticket);
      if (const auto* one = std::get_if<EvaluationArrived>(&event)) told.insert(one->ticket);
    }
    Engine engine =
        open_engine(options, events, blocking(noisy_score), blocking([&](const ProposalRequest& request) {
                      EXPECT_FALSE(proposed.contains(request.ticket)) << "bought twice";
                      return moody_nudge(request);
                    }));
    ASSERT_TRUE(engine.run(
        [&](const Commit& commit) { EXPECT_FALSE(told.contains(commit.ticket)) << "told twice"; }));
    EXPECT_EQ(engine.outcome().counts.iterations, 30U);
    ASSERT_EQ(text_of(engine), replayed(options, events));
    std::set<TicketId> answered;
    for (const auto& event : *events) {
      const auto* one = std::get_if<EvaluationArrived>(&event);
      if (one) {
        ASSERT_TRUE(answered.insert(one->ticket).second);
      }
    }
  }
}

TEST(Replay, ARunWithErrorsCutAnywhereNumbersNoAttemptTwice) {
  auto options = eventful_options(true);
  options.pipeline = 1;  // no two attempts at one program in flight
  options.error_limit = 1000;
  const auto run = [&](const Events& events) {
    std::set<ProgramId> tried;
    const auto first_attempt_fails = [&](const EvaluationJob& job) -> Result<Evaluation> {
      if (!job.remeasurement && tried.insert(job.candidate).second)
        return fail(ErrorCode::io, "the machine was lost");
      return noisy_score(job);
    };
    Engine engine = open_engine(options, events, blocking(first_attempt_fails), blocking(moody_nudge));
    EXPECT_TRUE(engine.run());
    std::set<std::pair<ProgramId, std::uint32_t>> told;
    for (const auto& event : *events) {
      const auto* one = std::get_if<EvaluationArrived>(&event);
      if (!one || one->source != EvaluationSource::evaluated) continue;
      EXPECT_TRUE(told.emplace(one->program, one->attempt).second)
          << "program " << one->program.value << " attempt " << one->attempt;
    }
  };
  const auto whole = no_events();
  run(whole);
  for (std::size_t cut = 0; cut <= whole->size(); ++cut) {
    SCOPED_TRACE("cut behind event " + std::to_string(cut));
    run(prefix(whole, cut));
  }
}

TEST(Replay, WhatArrivesEarlyWaitsForTheMigrationBeforeIt) {
  auto options = toy_options(4);
  options.deterministic = true;
  options.pipeline = 4;
  options.topology = Topology::ring(2).value();
  options.migration_period = 0.25;
  const auto tell_in = [&](std::vector<std::uint64_t> order) {
    const auto events = no_events();
    Engine engine = open_engine(options, events);
    EXPECT_TRUE(engine.tell(engine.ask()->value().id, score_of(0)));
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_TRUE(engine.ask().value());
    std::vector<TicketId> committed;
    for (const auto ticket : order) {
      const long x = 10 + 15 * long(ticket);
      const auto commits = engine.tell(TicketId{ticket}, number(x), score_of(x));
      for (const auto& commit : *commits) committed.push_back(commit.ticket);
    }
    EXPECT_EQ(committed, (std::vector<TicketId>{{1}, {2}, {3}, {4}}));
    EXPECT_EQ(text_of(engine), replayed(options, events));
    return text_of(engine);
  };
  const auto expected = tell_in({1, 2, 3, 4});
  EXPECT_EQ(tell_in({4, 3, 2, 1}), expected);
  EXPECT_EQ(tell_in({2, 4, 1, 3}), expected);
}

TEST(Replay, ContradictionsAreCorrupt) {
  const auto options = toy_options(5);
  const auto events = no_events();
  {
    Engine engine = open_engine(options, events);
    ASSERT_TRUE(engine.tell(engine.ask()->value().id, score_of(0)));
    ASSERT_TRUE(engine.tell(engine.ask()->value().id, number(5), score_of(5)));
  }
  const auto broken = [&](const Event& event) {
    const auto changed = prefix(events, events->size());
    changed->push_back(event);
    const auto state = replay(MemoryJournal(changed), options);
    return state ? std::string("accepted") : std::string(name_of(state.error().code));
  };
  EXPECT_EQ(broken(events->back()), "corrupt") << "told twice";
  EXPECT_EQ(broken(TicketOpened{{1}, {0}, Operator::edit, {}, "", {}, {}, {}, {}, {}, {}}), "corrupt");
  EXPECT_EQ(broken(TicketOpened{{2}, {9}, Operator::edit, {}, "", {}, {}, {}, {}, {}, {}}), "corrupt");
  EXPECT_EQ(broken(TicketOpened{{2}, {0}, Operator::edit, {}, "", ProgramId{77}, {}, {}, {}, {}, {}}),
            "corrupt");
  EXPECT_EQ(broken(TicketOpened{{2}, {0}, {}, Remeasurement::duel, "", ProgramId{1}, {}, {}, {}, {}, {}}),
            "corrupt");
  EXPECT_EQ(broken(PeriodCrossed{"migration", 2, {1}}), "corrupt");
  EXPECT_EQ(broken(PeriodCrossed{"weather", 1, {1}}), "corrupt");
  EXPECT_EQ(broken(ProposalArrived{{5}, {Refusal{}, {}, {}}}), "corrupt");
  EXPECT_EQ(broken(TicketClosed{{5}, {}, 0}), "corrupt");
}

TEST(Replay, TheSettingsInAJournalAreEnoughToRebuildTheRun) {
  for (const bool deterministic : {false, true}) {
    auto options = eventful_options(deterministic);
    options.axes = {{"x", LinearScale{0, 100, 10}},
                    {"a \"quoted\"; name", CategoricalScale{{"one; two", "3"}}},
                    {"z", EdgeScale{{-1, 0.1, 4}}},
                    {"l", LogarithmicScale{1, 1000, 3}}};
    options.fixed = {{"mine", "1"}};
    // Numbers that end in the same digit are one program.
    options.fingerprint = [](const Source& source) {
      return digest_of(std::to_string(number_in(source) % 40));
    };
    options.evaluations_in_flight = 1;  // a twin in flight would be a program of its own
    const auto events = no_events();
    ASSERT_TRUE(open_engine(options, events, blocking(noisy_score, 1), blocking(moody_nudge, 1)).run());
    const auto state = replay_as_recorded(MemoryJournal(events)).value();
    EXPECT_EQ(state.to_text(), replayed(options, events));
    EXPECT_GT(state.counts().repeated, 0U);
    EXPECT_EQ(state.end_reason(state.elapsed_s()),
              replay(MemoryJournal(events), options)->end_reason(state.elapsed_s()));
  }
}

TEST(Replay, SettingsThatCannotBeReadAreCorrupt) {
  const auto options = toy_options(5);
  const auto events = no_events();
  open_engine(options, events);
  const auto session = std::get<SessionStarted>(events->front());
  for (const auto& [name, text] :
       std::multimap<std::string, std::string>{{"axes", "\"x\" linear 0"},
                                               {"axes", "\"x\" linear 0 100 10 7"},
                                               {"axes", "\"x\" strange 1 2"},
                                               {"axes", "\"x\" linear 0 100 99999999"},
                                               {"topology", "9999999 islands"},
                                               {"topology", "2 islands 0>"},
                                               {"topology", ""},
                                               {"seed", "-"},
                                               {"duels", "99999999999999999999"},
                                               {"deterministic", "maybe"}}) {
    auto changed = session;
    changed.settings[name] = text;
    const auto state =
        replay_as_recorded(MemoryJournal(std::make_shared<std::vector<Event>>(std::vector<Event>{changed})));
    ASSERT_FALSE(state) << name << ": " << text;
  }
}

/// Without binaries, of which there are too few to fill an island's leaders.
Evaluation uncompiled_score(const EvaluationJob& job) {
  const Evaluation evaluation = noisy_score(job);
  return evaluation.accepted() ? Evaluation(Acceptance{*evaluation.metrics(), {}}) : rejected();
}

TEST(Replay, ProgramsThatNobodyHoldsAreReadFromTheJournal) {
  auto options = eventful_options(false);
  options.budgets.iterations = 500;  // an island holds its best Island::kMaxLeaders
  options.island = {.rejections = 2, .recent_failures = 2};
  options.describe = [](const Source& source, const Evaluation&) {
    return std::map<std::string, double>{{"bytes", double(source.bytes())}};
  };
  /// The program and its latest measurement that stood, as the commits told.
  std::map<ProgramId, Individual> told;
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking(uncompiled_score, 1), blocking(moody_nudge, 1));
  ASSERT_TRUE(engine.run([&](const Commit& commit) {
    ASSERT_EQ(commit.individual != nullptr,
              commit.kind != CommitKind::refused && commit.kind != CommitKind::given_back);
    if (commit.individual) told.insert_or_assign(commit.individual->program->id, *commit.individual);
  }));
  engine.inspect([&](const SearchState& state) {
    std::set<IndividualPtr> held;
    for (std::uint32_t i = 0; i < state.archipelago().size(); ++i) {
      const Island& island = state.archipelago().island({i});
      for (const Elite& elite : island.archive().elites()) held.insert(elite.individual);
      held.insert(island.rejections().begin(), island.rejections().end());
      held.insert(island.recent_failures().begin(), island.recent_failures().end());
      held.insert(island.leaders().begin(), island.leaders().end());
      held.insert(island.roots().begin(), island.roots().end());
    }
    std::size_t released = 0;
    for (const auto& [id, record] : state.programs()) {
      const auto now = record.individual.lock();
      if (!now) ++released;
      EXPECT_TRUE(!now || held.contains(now)) << "program " << id.value << " is kept but not needed";
      const auto read = state.individual(id).value();
      EXPECT_EQ(*read->program, *told.at(id).program);
      EXPECT_EQ(read->evaluation, told.at(id).evaluation);
      EXPECT_EQ(record.source, read->program->source.digest());
      EXPECT_EQ(record.accepted, read->evaluation.accepted());
    }
    EXPECT_GT(released, 5U);
  });
  const auto state = replay(MemoryJournal(events), options).value();
  for (const auto& [id, record] : state.programs()) {
    if (!record.individual.expired()) continue;
    EXPECT_EQ(state.individual(id).error().code, ErrorCode::not_found);
  }
}

/// Counts who reads it from somewhere in the middle.
struct CountedJournal final : MemoryJournal {
  CountedJournal() : MemoryJournal(no_events()) {}
  Status replay(std::uint64_t after,
                const std::function<Status(std::uint64_t, const Event&)>& visit) const override {
    ++reads;
    return MemoryJournal::replay(after, visit);
  }
  mutable std::size_t reads = 0;
};

TEST(Replay, KinAreReadFromTheJournalOnce) {
  auto options = toy_options(1000);
  options.axes = {};
  options.kin = 4;
  auto owned = std::make_unique<CountedJournal>();
  const CountedJournal& journal = *owned;
  Engine engine = Engine::create(std::move(owned), options, nullptr, nullptr).value();
  ASSERT_TRUE(engine.tell(engine.ask()->value().id, accepted(Measurement::exact(1))));
  // Children of the seed that stays the best, which nobody holds once they are no leaders.
  for (long x = 1; x <= 60; ++x)
    ASSERT_TRUE(
        engine.tell(engine.ask()->value().id, number(x), accepted(Measurement::exact(1 - 0.01 * double(x)))));
  const Ticket ticket = engine.ask()->value();
  const std::size_t reads = journal.reads;
  EXPECT_GT(reads, 1U) << "its latest children are read";
  EXPECT_EQ(std::get<Propose>(ticket.work).selection.kin.size(), 4U);
  ASSERT_TRUE(engine.tell(ticket.id, Refusal{}));
  ASSERT_TRUE(engine.ask()->has_value());
  EXPECT_EQ(journal.reads, reads);
}

TEST(Replay, ARepeatOfAProgramThatNobodyHoldsIsAnsweredFromTheJournal) {
  auto options = toy_options(50);
  options.axes = {};  // one cell: its elite and the leaders are held
  const auto events = no_events();
  Engine engine = open_engine(options, events);
  ASSERT_TRUE(engine.tell(engine.ask()->value().id, score_of(0)));
  const std::uint64_t last = Island::kMaxLeaders + 5;  // four are rejected
  for (std::uint64_t x = 10; x < 10 + last; ++x)
    ASSERT_TRUE(engine.tell(engine.ask()->value().id, number(long(x)), score_of(long(x))));
  engine.inspect([&](const SearchState& state) {
    EXPECT_TRUE(state.programs().at({1}).individual.expired());
    EXPECT_FALSE(state.programs().at({last}).individual.expired());
  });
  const auto commits = engine.tell(engine.ask()->value().id, number(10), rejected()).value();
  ASSERT_TRUE(commits.front().individual);
  EXPECT_EQ(commits.front().kind, CommitKind::repeated);
  EXPECT_EQ(commits.front().repeats, ProgramId{1});
  EXPECT_EQ(commits.front().individual->program->source, number(10));
  EXPECT_EQ(commits.front().fitness, 40);
  EXPECT_EQ(std::get<EvaluationArrived>(events->back()).evaluation, score_of(10));
  EXPECT_EQ(text_of(engine), replayed(options, events));
}

}  // namespace
}  // namespace kernelsmith

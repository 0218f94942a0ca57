// What the search remembers of knobs, what the tuner gets to know of it, and the tuning of new structures.

#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A program of structure `name` with two knobs of five values each; `tile` is one that all structures share.
Source program(const std::string& name, std::size_t tile, std::size_t other) {
  return Source::create({{"x.txt", name + " " + std::to_string(tile) + " " + std::to_string(other)}}).value();
}

struct Parts {
  std::string name;
  std::size_t tile = 0, other = 0;
};

Parts parts_of(const Source& source) {
  Parts parts;
  std::istringstream(std::string(source.main_text())) >> parts.name >> parts.tile >> parts.other;
  return parts;
}

std::optional<KnobSetting> toy_knobs(const Source& source) {
  const auto [name, tile, other] = parts_of(source);
  if (name == "plain") return std::nullopt;
  const std::vector<std::string> values{"1", "2", "4", "8", "16"};
  return KnobSetting{digest_of(name), {{"tile", values}, {"of_" + name, values}}, {tile, other}};
}

/// Best at (3, 1); what adds up to more than six fails.
Evaluation toy_score(const Source& source) {
  const auto [name, tile, other] = parts_of(source);
  if (tile + other > 6) return rejected();
  const auto away = [](std::size_t a, std::size_t b) { return double(a > b ? a - b : b - a); };
  const double fitness = 10 + double(name.size()) - away(tile, 3) - away(other, 1);
  return accepted({fitness, fitness - 1, fitness + 1, 5, ""}, {{"x", double(tile * 5 + other)}});
}

EngineOptions knob_options(std::uint64_t iterations = 60) {
  auto options = toy_options(iterations);
  options.seeds = {program("a", 0, 0)};
  options.axes = {{"x", LinearScale{0, 25, 5}}};
  options.knobs = toy_knobs;
  options.duels = 0;
  return options;
}

EngineOptions tuner_options(std::uint64_t iterations = 60) {
  auto options = knob_options(iterations);
  options.operators = weighted({{{Operator::tune, ""}, 1}});
  return options;
}

/// Whose seed is evaluated.
Engine begun(const EngineOptions& options) {
  Engine engine = open_engine(options, no_events());
  EXPECT_TRUE(engine.tell(next(engine).id, toy_score(options.seeds.front())));
  return engine;
}

const KnobHistory& history_of(const Ticket& ticket) {
  return *std::get<Propose>(ticket.work).selection.knobs;
}

KnobHistory known_of(const Engine& engine, const std::string& structure) {
  KnobHistory history;
  engine.inspect([&](const SearchState& state) {
    history = state.knobs().history(*toy_knobs(program(structure, 0, 0)));
  });
  return history;
}

Engine::Commits tell(Engine& engine, const Ticket& ticket, const Source& child,
                     Origin origin = Origin::tune) {
  return engine.tell(ticket.id, Child{child, origin, {}}, toy_score(child)).value();
}

TEST(Knobs, ATicketOfTheTunerKnowsWhatBecameOfItsStructure) {
  Engine engine = begun(tuner_options());
  tell(engine, next(engine), program("a", 2, 1));
  tell(engine, next(engine), program("a", 4, 4));
  tell(engine, next(engine), program("other", 1, 1));
  const Ticket ticket = next(engine);
  const double deviation = 1 / 1.96;
  const auto& seen = history_of(ticket).seen;
  if (parts_of(std::get<Propose>(ticket.work).selection.parent->program->source).name == "other") {
    EXPECT_THAT(seen, ElementsAre(KnobObservation{{1, 1}, 13, deviation}));
  } else {
    EXPECT_THAT(seen,
                ElementsAre(KnobObservation{{0, 0}, 7, deviation}, KnobObservation{{2, 1}, 10, deviation},
                            KnobObservation{{4, 4}, std::nullopt, 0}));
  }
}

TEST(Knobs, OtherOperatorsAndProgramsWithoutKnobsHaveNoHistory) {
  Engine engine = begun(knob_options());
  EXPECT_EQ(std::get<Propose>(next(engine).work).selection.knobs, nullptr);
  auto options = tuner_options();
  options.seeds = {program("plain", 0, 0)};
  Engine plain = begun(options);
  EXPECT_EQ(std::get<Propose>(next(plain).work).selection.knobs, nullptr);
}

TEST(Knobs, WhatIsProposedIsPendingAndWhatIsAskedForIsCounted) {
  Engine engine = begun(tuner_options());
  const Ticket one = next(engine), two = next(engine);
  EXPECT_EQ(history_of(one).asked, 0U);
  EXPECT_EQ(history_of(two).asked, 1U);
  ASSERT_TRUE(engine.propose(one.id, {Child{program("a", 3, 3), Origin::tune, {}}, {}, {}}));
  const Ticket three = next(engine);
  EXPECT_EQ(history_of(three).asked, 1U);
  EXPECT_THAT(history_of(three).pending, ElementsAre(KnobPoint{3, 3}));
  ASSERT_TRUE(engine.tell(one.id, toy_score(program("a", 3, 3))));
  const Ticket four = next(engine);
  EXPECT_THAT(history_of(four).pending, IsEmpty());
  EXPECT_EQ(history_of(four).seen.size(), 2U);
}

TEST(Knobs, InADeterministicRunNothingDependsOnWhatHasArrived) {
  auto options = tuner_options();
  options.deterministic = true;
  options.pipeline = 3;
  Engine engine = begun(options);
  const Ticket one = next(engine), two = next(engine), three = next(engine);
  EXPECT_EQ(history_of(three).asked, 2U);
  ASSERT_TRUE(engine.propose(three.id, {Child{program("a", 3, 3), Origin::tune, {}}, {}, {}}));
  tell(engine, one, program("a", 1, 1));
  const Ticket four = next(engine);
  EXPECT_THAT(history_of(four).pending, IsEmpty());
  EXPECT_EQ(history_of(four).asked, 2U) << "tickets two and three";
}

TEST(Knobs, TheSameBinaryIsAnObservationToo) {
  Engine engine = open_engine(tuner_options(), no_events());
  ASSERT_TRUE(engine.tell(next(engine).id, of_binary("seed", toy_score(program("a", 0, 0)))));
  const auto commits =
      engine.tell(next(engine).id, program("a", 1, 0), of_binary("seed", toy_score(program("a", 1, 0))))
          .value();
  ASSERT_EQ(commits.front().kind, CommitKind::repeated);
  const Ticket ticket = next(engine);
  EXPECT_THAT(history_of(ticket).seen,
              ElementsAre(KnobObservation{{0, 0}, 7, 1 / 1.96}, KnobObservation{{1, 0}, 7, 1 / 1.96}));
}

TEST(Knobs, ANewStructureKnowsWhereTheBestOfAnotherStands) {
  Engine engine = begun(tuner_options());
  tell(engine, next(engine), program("a", 3, 1));
  tell(engine, next(engine), program("longer", 0, 0));
  EXPECT_THAT(known_of(engine, "longer").elsewhere,
              ElementsAre(std::optional<std::size_t>(3), std::optional<std::size_t>()));
  tell(engine, next(engine), program("longer", 1, 1));
  EXPECT_THAT(known_of(engine, "longer").elsewhere, IsEmpty()) << "its own observations tell more";
}

TEST(Knobs, TheBestOfAnotherIsTheOneThatALookThroughAllFinds) {
  const std::vector<std::string> values{"1", "2", "4", "8"};
  const std::vector<std::vector<KnobList>> kinds{{{"tile", values}, {"width", values}},
                                                 {{"depth", values}, {"tile", values}, {"width", values}},
                                                 {{"", values}, {"tile", {"1", "2"}}}};
  const auto setting = [&](std::uint64_t structure, std::size_t a, std::size_t b) {
    const auto& knobs = kinds[structure % kinds.size()];
    KnobSetting made{digest_of(std::to_string(structure)), knobs, {a, b % 2}};
    made.point.resize(knobs.size(), b);
    return made;
  };
  struct Seen {
    KnobSetting setting;
    std::vector<std::pair<KnobPoint, std::optional<double>>> points;
  };
  std::map<Digest, Seen> all;
  KnobMemory memory;
  Rng rng(1, 0, Purpose::evaluation);
  for (int i = 0; i < 600; ++i) {
    const KnobSetting noted = setting(rng.below(12), rng.below(4), rng.below(4));
    const auto fitness = rng.chance(0.3) ? std::nullopt : std::optional(double(rng.below(6)));
    memory.note(noted, fitness, 0);
    Seen& seen = all.try_emplace(noted.structure, Seen{noted, {}}).first->second;
    const auto at =
        std::ranges::find(seen.points, noted.point, &std::pair<KnobPoint, std::optional<double>>::first);
    if (at == seen.points.end())
      seen.points.emplace_back(noted.point, fitness);
    else
      at->second = fitness;

    const KnobSetting asked = setting(12 + rng.below(3), 0, 0);
    std::vector<std::optional<std::size_t>> nearest(asked.knobs.size());
    std::size_t most = 0;
    double highest = 0;
    for (const auto& [digest, other] : all) {
      const std::pair<KnobPoint, std::optional<double>>* best = nullptr;
      for (const auto& one : other.points)
        if (one.second && (!best || *one.second > *best->second)) best = &one;
      if (!best) continue;
      std::vector<std::optional<std::size_t>> found(asked.knobs.size());
      std::size_t shared = 0;
      for (std::size_t k = 0; k < found.size(); ++k)
        for (std::size_t j = 0; j < other.setting.knobs.size(); ++j)
          if (!asked.knobs[k].name.empty() && other.setting.knobs[j] == asked.knobs[k]) {
            found[k] = best->first[j];
            ++shared;
          }
      if (shared == 0 || shared < most || (shared == most && *best->second <= highest)) continue;
      most = shared;
      highest = *best->second;
      nearest = found;
    }
    ASSERT_EQ(memory.history(asked).elsewhere, nearest) << "after " << i;
  }
}

TEST(Knobs, ObservationsAreAListWhoseCopiesStayAsTheyWere) {
  KnobObservations all;
  std::vector<KnobObservation> list;
  std::vector<std::pair<KnobObservations, std::vector<KnobObservation>>> copies;
  Rng rng(1, 0, Purpose::evaluation);
  for (std::size_t i = 0; i < 1500; ++i) {
    const KnobObservation one{{i}, rng.uniform(), 0};
    if (i % 3 > 0 || list.empty()) {
      all.push_back(one);
      list.push_back(one);
    } else {
      const auto at = static_cast<std::size_t>(rng.below(list.size()));
      all.replace(at, one);
      list[at] = one;
    }
    if (i % 50 > 0) continue;
    const std::size_t count = std::min<std::size_t>(300, list.size());
    copies.emplace_back(all.last(300), std::vector(list.end() - std::ptrdiff_t(count), list.end()));
  }
  copies.emplace_back(all, list);
  copies.emplace_back(all.last(0), std::vector<KnobObservation>());
  for (const auto& [copy, expected] : copies) {
    EXPECT_EQ(copy.size(), expected.size());
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), expected.begin(), expected.end()));
  }
}

TEST(Knobs, ABestThatDoesNotHoldIsARejectionOfItsPoint) {
  auto options = tuner_options(1);
  options.confirm = true;
  Engine engine = begun(options);
  tell(engine, next(engine), program("a", 3, 1));
  const Ticket confirmation = next(engine);
  ASSERT_TRUE(std::holds_alternative<Remeasure>(confirmation.work));
  ASSERT_TRUE(engine.tell(confirmation.id, rejected()));
  EXPECT_EQ(known_of(engine, "a").seen[1], (KnobObservation{{3, 1}, std::nullopt, 0}));
}

TEST(Tunings, FollowAnAcceptedProgramOfANewStructureAtOnce) {
  auto options = knob_options(2);
  options.tunings = 2;
  Engine engine = begun(options);
  tell(engine, next(engine), program("new", 0, 0), Origin::rewrite);
  for (std::size_t i = 0; i < 2; ++i) {
    const Ticket ticket = next(engine);
    const auto& work = std::get<Propose>(ticket.work);
    EXPECT_EQ(work.op, Operator::tune);
    EXPECT_EQ(work.selection.parent->program->id, ProgramId{1});
    EXPECT_EQ(work.selection.knobs->seen.size(), i + 1);
    tell(engine, ticket, program("new", i + 1, 0));
  }
  EXPECT_EQ(std::get<Propose>(next(engine).work).op, Operator::rewrite);
  const auto counts = engine.outcome().counts;
  EXPECT_EQ(counts.iterations, 1U) << "a tuning does not count";
  EXPECT_EQ(counts.tunings, 2U);
  EXPECT_EQ(counts.evaluations, 4U);
}

/// What is asked for behind a child of the seed.
Operator next_after(const EngineOptions& options, const Source& child, Origin origin) {
  Engine engine = begun(options);
  tell(engine, next(engine), child, origin);
  return std::get<Propose>(next(engine).work).op;
}

TEST(Tunings, FollowNothingElse) {
  auto options = knob_options(9);
  options.tunings = 2;
  EXPECT_EQ(next_after(options, program("new", 0, 0), Origin::edit), Operator::tune);
  EXPECT_EQ(next_after(options, program("new", 4, 4), Origin::edit), Operator::rewrite) << "a rejection";
  EXPECT_EQ(next_after(options, program("new", 0, 0), Origin::tune), Operator::rewrite) << "the tuner's own";
  EXPECT_EQ(next_after(options, program("plain", 0, 0), Origin::edit), Operator::rewrite) << "no knobs";
  options.tunings = 0;
  EXPECT_EQ(next_after(options, program("new", 0, 0), Origin::edit), Operator::rewrite) << "off by default";
}

TEST(Tunings, TakeAQuarterOfTheEvaluationsAtTheMost) {
  auto options = knob_options(200);
  options.tunings = 4;
  Engine engine = begun(options);
  std::size_t tuned = 0;
  while (auto ticket = engine.ask().value()) {
    const bool tunes = std::get<Propose>(ticket->work).op == Operator::tune;
    const std::string name =
        tunes ? parts_of(std::get<Propose>(ticket->work).selection.parent->program->source).name
              : "n" + std::to_string(ticket->id.value);
    const std::size_t place = tunes ? ++tuned % 4 + 1 : 0;
    tell(engine, *ticket, program(name, place, 0), tunes ? Origin::tune : Origin::rewrite);
  }
  const auto counts = engine.outcome().counts;
  EXPECT_EQ(counts.iterations, 200U);
  EXPECT_GE(counts.tunings, counts.evaluations / 5);
  EXPECT_LE(counts.tunings, counts.evaluations / 4 + 4);
}

TEST(Exhausted, EndsARunOfTheTunerAtOnce) {
  for (const bool ends : {false, true}) {
    auto options = tuner_options();
    options.ends_when_exhausted = ends;
    Engine engine = begun(options);
    ASSERT_TRUE(engine.tell(next(engine).id, Refusal{RefusalCode::declined, ""}));
    EXPECT_FALSE(engine.done());
    ASSERT_TRUE(engine.tell(next(engine).id, Refusal{RefusalCode::exhausted, ""}));
    EXPECT_EQ(engine.done(), ends);
    if (ends) {
      EXPECT_EQ(engine.outcome().reason, EndReason::exhausted);
    }
  }
}

TEST(Exhausted, WaitsForWhatIsUnderWayAndAsksAgain) {
  auto options = tuner_options();
  options.ends_when_exhausted = true;
  Engine engine = begun(options);
  const Ticket lost = next(engine), last = next(engine);
  ASSERT_TRUE(engine.tell(last.id, Refusal{RefusalCode::exhausted, ""}));
  EXPECT_FALSE(engine.ask().value());
  ASSERT_TRUE(engine.give_back(lost.id, fail(ErrorCode::io, "the machine was lost")));
  EXPECT_TRUE(engine.ask().value()) << "the point that was lost";
}

/// The first point in order that is neither known nor taken; now and then another structure in place of it.
/// Whatever it answers depends on the history, so that equal runs had equal histories.
Result<Proposal> by_history(const ProposalRequest& request) {
  const auto& parent = parts_of(request.selection.parent->program->source);
  if (request.op != Operator::tune) {
    const std::string name = "s" + std::to_string(request.ticket.value % 9);
    return Proposal{Child{program(name, request.ticket.value % 5, 0), Origin::rewrite, {}}, {}, {}};
  }
  const KnobHistory& history = *request.selection.knobs;
  std::set<KnobPoint> taken(history.pending.begin(), history.pending.end());
  double sum = 0;
  for (const KnobObservation& one : history.seen) {
    taken.insert(one.point);
    sum += one.fitness.value_or(0) + one.deviation;
  }
  std::size_t place = static_cast<std::size_t>(sum) + history.asked;
  for (const auto& value : history.elsewhere) place += value.value_or(0);
  for (std::size_t i = 0; i < 25; ++i, ++place)
    if (const KnobPoint point{place % 25 / 5, place % 5}; !taken.contains(point))
      return Proposal{Child{program(parent.name, point[0], point[1]), Origin::tune, {}}, {}, {}};
  return Proposal{Refusal{RefusalCode::exhausted, ""}, {}, {}};
}

/// With noise, so that there are duels, and pairs of programs that are one binary.
Evaluation noisy_toy_score(const EvaluationJob& job) {
  const Evaluation exact = toy_score(job.source);
  const auto parts = parts_of(job.source);
  const std::string bytes = parts.name + std::to_string(parts.tile) + std::to_string(parts.other / 2);
  if (!exact.accepted()) return of_binary(bytes + "rejected", exact);
  Rng rng(7, job.candidate.value * 64 + job.attempt, Purpose::evaluation);
  const double median = exact.metrics()->fitness().median + rng.normal();
  return of_binary(bytes, accepted({median, median - 2, median + 2, 5, ""}, exact.metrics()->features()));
}

EngineOptions mixed_options(bool deterministic) {
  auto options = knob_options(50);
  options.deterministic = deterministic;
  options.pipeline = 4;
  options.tunings = 3;
  options.duels = 2;
  options.confirm = true;
  options.operators = weighted({{{Operator::tune, ""}, 2}, {{Operator::rewrite, ""}, 1}});
  return options;
}

std::string searched_to_the_end(const EngineOptions& options, const Events& events, unsigned workers) {
  Engine engine =
      open_engine(options, events, blocking(noisy_toy_score, workers), blocking(by_history, workers));
  EXPECT_TRUE(engine.run());
  EXPECT_TRUE(engine.done());
  const auto text = text_of(engine);
  EXPECT_EQ(text, replayed(options, events));
  return text;
}

TEST(KnobReplay, TheRunIsEventful) {
  const auto events = no_events();
  searched_to_the_end(mixed_options(true), events, 1);
  const auto state = replay(MemoryJournal(events), mixed_options(true)).value();
  EXPECT_GT(state.counts().tunings, 3U);
  EXPECT_GT(state.counts().same_binary, 0U);
  EXPECT_GT(state.counts().rejected, 0U);
  EXPECT_GT(state.counts().remeasured, 1U);
  EXPECT_NE(state.to_text().find("structure "), std::string::npos);
}

TEST(KnobReplay, ADeterministicRunDependsOnNoNumberOfWorkers) {
  auto options = mixed_options(true);
  const auto one = searched_to_the_end(options, no_events(), 1);
  options.evaluations_in_flight = 4;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(searched_to_the_end(options, no_events(), 4), one);
}

TEST(KnobReplay, ADeterministicRunCutAnywhereEndsWithTheSameMemory) {
  const auto options = mixed_options(true);
  const auto whole = no_events();
  const auto expected = searched_to_the_end(options, whole, 4);
  // All cuts would take minutes under a sanitizer.
  for (std::size_t cut = 0; cut <= whole->size(); cut += 7) {
    SCOPED_TRACE("cut behind event " + std::to_string(cut));
    ASSERT_EQ(searched_to_the_end(options, prefix(whole, cut), 2), expected);
  }
}

TEST(KnobReplay, AFreeRunCutAnywhereAsksWithTheSameHistory) {
  const auto options = mixed_options(false);
  const auto whole = no_events();
  std::map<TicketId, KnobHistory> told;
  const auto remember = [&](const ProposalRequest& request) {
    if (request.selection.knobs) told[request.ticket] = *request.selection.knobs;
    return by_history(request);
  };
  ASSERT_TRUE(open_engine(options, whole, blocking(noisy_toy_score, 1), blocking(remember, 1)).run());
  EXPECT_GT(told.size(), 20U);
  for (std::size_t cut = 0; cut <= whole->size(); ++cut) {
    const auto state = replay(MemoryJournal(prefix(whole, cut)), options).value();
    for (const auto& [id, open] : state.open()) {
      if (!open.selection.knobs) continue;
      ASSERT_EQ(*open.selection.knobs, told.at(id)) << "cut behind event " << cut;
    }
  }
}

TEST(KnobReplay, AFreeRunIsFollowedByteForByte) {
  const auto options = mixed_options(false);
  const auto recording = no_events();
  searched_to_the_end(options, recording, 3);
  const auto own = no_events();
  const auto followed =
      open_engine(options, own).follow(MemoryJournal(recording), RecordedEvaluations::kept).value();
  EXPECT_EQ(followed.end, Followed::End::whole);
  EXPECT_EQ(replayed(options, own), replayed(options, recording));
}

}  // namespace
}  // namespace kernelsmith

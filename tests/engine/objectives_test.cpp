// Runs with several objectives: replay, resuming, and what cannot change within a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

using ::testing::HasSubstr;

Objectives speed_and_size(ObjectiveRule rule) {
  return Objectives::create({{"fitness"}, {"x", true}}, rule).value();
}

EngineOptions several(ObjectiveRule rule, bool deterministic = true) {
  auto options = toy_options(30);
  options.axes = {{"x", LinearScale{0, 100, 3}}};
  options.objectives = speed_and_size(rule);
  options.deterministic = deterministic;
  options.pipeline = 4;
  options.topology = Topology::ring(2).value();
  options.migration_period = 0.1;
  options.repairs = 1;
  options.duels = 2;
  options.confirm = true;
  options.sampler = std::make_shared<TreeSampler>(TreeSampler::create().value());
  return options;
}

std::string run_on(const EngineOptions& options, const Events& events, unsigned workers) {
  const auto propose = [](const ProposalRequest& request) { return nudge(request); };
  Engine engine = open_engine(options, events, blocking(noisy_score, workers), blocking(propose, workers));
  EXPECT_TRUE(engine.run());
  EXPECT_TRUE(engine.done());
  const std::string text = text_of(engine);
  EXPECT_EQ(text, replayed(options, events));
  return text;
}

class SeveralObjectives : public ::testing::TestWithParam<ObjectiveRule> {};

TEST_P(SeveralObjectives, ARunCutAnywhereEndsInTheSameArchive) {
  const EngineOptions options = several(GetParam());
  const auto whole = no_events();
  const std::string expected = run_on(options, whole, 4);
  EXPECT_THAT(expected, HasSubstr("objectives " + options.objectives.to_text()));
  for (std::size_t cut = 0; cut <= whole->size(); ++cut)
    ASSERT_EQ(run_on(options, prefix(whole, cut), 2), expected) << "cut behind event " << cut;
}

TEST_P(SeveralObjectives, ADemotedBestLeavesItsCellToWhatWouldHaveStoodThere) {
  auto options = several(GetParam());
  options.axes.clear();
  std::optional<ProgramId> demoted;
  const auto fail_once = [&](const EvaluationJob& job) {
    if (job.remeasurement != Remeasurement::confirm || demoted) return score(job);
    demoted = job.candidate;
    return rejected(Stage::integrity, RejectionCode::not_reproducible);
  };
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking(fail_once), blocking(nudge));
  ASSERT_TRUE(engine.run());
  ASSERT_TRUE(demoted);
  EXPECT_EQ(text_of(engine), replayed(options, events));
  engine.inspect([&](const SearchState& state) {
    Archive expected(Grid::create({}).value(), options.objectives);
    for (std::uint64_t id = 0; id <= 60; ++id) {
      const auto individual = state.individual(ProgramId{id});
      if (individual && (*individual)->evaluation.accepted()) expected.add(*individual);
    }
    ASSERT_FALSE(expected.elites().empty());
    EXPECT_EQ(state.archipelago().best()->program->id, expected.best()->program->id);
    EXPECT_NE(state.archipelago().best()->program->id, *demoted);
  });
}

TEST_P(SeveralObjectives, AreReadFromTheJournalByWhoeverLooks) {
  const EngineOptions options = several(GetParam(), false);
  const auto events = no_events();
  const std::string text = run_on(options, events, 1);
  const auto state = replay_as_recorded(MemoryJournal(events), {}).value();
  EXPECT_EQ(state.archipelago().objectives(), options.objectives);
  EXPECT_EQ(state.to_text(), text);
}

TEST_P(SeveralObjectives, CannotChangeWithinARun) {
  const auto resumed_with = [](const Events& events, const EngineOptions& options) {
    const auto state = replay(MemoryJournal(events), options);
    return state ? std::string() : describe(state.error());
  };
  EngineOptions with = several(GetParam()), without = with;
  without.objectives = {};
  EngineOptions other = with;
  other.objectives =
      speed_and_size(with.objectives.pareto() ? ObjectiveRule::lexicographic : ObjectiveRule::pareto);
  const auto begun_with = no_events(), begun_without = no_events();
  run_on(with, begun_with, 1);
  run_on(without, begun_without, 1);
  EXPECT_EQ(resumed_with(begun_with, with), "");
  EXPECT_THAT(resumed_with(begun_with, without), HasSubstr("objectives"));
  EXPECT_THAT(resumed_with(begun_with, other), HasSubstr("objectives"));
  EXPECT_THAT(resumed_with(begun_without, with), HasSubstr("objectives"));
}

INSTANTIATE_TEST_SUITE_P(BothRules, SeveralObjectives,
                         ::testing::Values(ObjectiveRule::pareto, ObjectiveRule::lexicographic),
                         [](const auto& rule) { return std::string(name_of(rule.param)); });

TEST(OneObjective, TheFitnessAloneLeavesNoTrace) {
  const auto events = no_events();
  const EngineOptions options = toy_options();
  const std::string text = run_on(options, events, 1);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("objectives")));
  for (const Event& event : *events)
    if (const auto* session = std::get_if<SessionStarted>(&event)) {
      EXPECT_FALSE(session->settings.contains("objectives"));
    }
}

}  // namespace
}  // namespace kernelsmith

// What a cell keeps if a run has several objectives.
#include <algorithm>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/archive/archive.hpp>
#include <kernelsmith/core/rng.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Rule = ObjectiveRule;

Archive one_cell(Rule rule) {
  return Archive(Grid::create({}).value(), Objectives::create({{"fitness"}, {"memory", true}}, rule).value());
}

IndividualPtr exactly(std::uint64_t id, double fitness, double memory) {
  return accepted(id, fitness, {{"memory", memory}});
}

/// A tenth to either side.
IndividualPtr about(std::uint64_t id, double fitness, double memory) {
  return accepted(id, Measurement{fitness, fitness - 0.1, fitness + 0.1, 9, "x"}, {{"memory", memory}});
}

std::vector<std::uint64_t> ids(const Archive& archive) {
  std::vector<std::uint64_t> found;
  for (const Elite& elite : archive.elites()) found.push_back(elite.individual->program->id.value);
  return found;
}

TEST(Front, KeepsWhatIsBetterInSomething) {
  Archive archive = one_cell(Rule::pareto);
  EXPECT_EQ(archive.add(exactly(1, 1, 5)).status, AddStatus::new_cell);
  EXPECT_EQ(archive.add(exactly(2, 2, 9)).status, AddStatus::joined);
  EXPECT_EQ(archive.add(exactly(3, 0.5, 1)).status, AddStatus::joined);
  EXPECT_EQ(archive.add(exactly(4, 0.5, 2)).status, AddStatus::not_better);
  EXPECT_THAT(ids(archive), ElementsAre(2, 1, 3)) << "by fitness";
  const auto outcome = archive.add(exactly(5, 1.5, 1));
  EXPECT_EQ(outcome.status, AddStatus::improved);
  EXPECT_EQ(outcome.incumbent->program->id, ProgramId{1});
  EXPECT_THAT(ids(archive), ElementsAre(2, 5));
  EXPECT_EQ(archive.best()->program->id, ProgramId{2});
}

TEST(Front, ASpeedJoinsByItsLowEnd) {
  Archive archive = one_cell(Rule::pareto);
  archive.add(about(1, 1, 5));
  EXPECT_EQ(archive.add(about(2, 0.95, 6)).status, AddStatus::not_better)
      << "more memory, and perhaps no faster";
  EXPECT_EQ(archive.add(about(3, 1.25, 6)).status, AddStatus::joined);
  const auto close = archive.add(about(4, 0.95, 5));
  EXPECT_EQ(close.status, AddStatus::ambiguous) << "only the fitness can tell: a duel";
  EXPECT_EQ(close.incumbent->program->id, ProgramId{1});
  EXPECT_FALSE(close.placed());
}

TEST(Front, TheFastestIsNotLostByStepsWithinTheNoise) {
  Archive archive = one_cell(Rule::pareto);
  archive.add(about(1, 2, 50));
  for (std::uint64_t id = 2; id < 40; ++id)
    archive.add(about(id, 2 - 0.05 * static_cast<double>(id), 50 - static_cast<double>(id)));
  EXPECT_EQ(archive.best()->program->id, ProgramId{1});
}

TEST(Front, AWonDuelTakesTheIncumbentsPlace) {
  Archive archive = one_cell(Rule::pareto);
  archive.add(about(1, 1, 5));
  archive.add(about(2, 2, 9));
  ASSERT_EQ(archive.add(about(3, 0.95, 5)).status, AddStatus::ambiguous);
  EXPECT_EQ(archive.settle(about(3, 0.95, 5), ProgramId{1}).status, AddStatus::improved);
  EXPECT_THAT(ids(archive), ElementsAre(2, 3));
  EXPECT_EQ(archive.settle(about(4, 0.9, 5), ProgramId{1}).status, AddStatus::ambiguous)
      << "the loser is gone";
  archive.add(about(5, 1, 5));
  ASSERT_THAT(ids(archive), ElementsAre(2, 5)) << "its low end is higher";
}

TEST(Front, AProgramStandsOnceInACell) {
  Archive archive = one_cell(Rule::pareto);
  archive.add(exactly(1, 1, 5));
  EXPECT_EQ(archive.add(exactly(1, 2, 9)).status, AddStatus::not_better);
  archive.add(exactly(2, 2, 9));
  EXPECT_EQ(archive.withdraw(ProgramId{1}), std::vector{Cell{0}});
  EXPECT_THAT(ids(archive), ElementsAre(2));
  EXPECT_EQ(archive.ranked(0).individual->program->id, ProgramId{2});
}

TEST(Front, ACellCountsOnceInTheStatistics) {
  Archive archive = one_cell(Rule::pareto);
  archive.add(exactly(1, 1, 5));
  archive.add(exactly(2, 2, 9));
  EXPECT_EQ(archive.statistics().filled, 1U);
  EXPECT_EQ(archive.statistics().qd_score, 2);
}

TEST(Front, ItsTextHoldsWhatItReads) {
  Archive archive = one_cell(Rule::pareto);
  archive.add(exactly(1, 1, 5));
  EXPECT_EQ(archive.to_text(),
            "objectives pareto max \"fitness\" min \"memory\"\ncell 0 program 1 fitness 1 1 1 value -5\n");
}

/// Random programs of three cells, with and without noise, some without a figure.
std::vector<IndividualPtr> random_programs(std::uint64_t seed, std::size_t count) {
  Rng rng(seed, 0, Purpose::evaluation);
  std::vector<IndividualPtr> programs;
  for (std::size_t id = 0; id < count; ++id) {
    const double fitness = 1 + rng.uniform(), noise = seed % 2 == 0 ? 0 : 0.1 * rng.uniform();
    std::map<std::string, double> features = {{"a", static_cast<double>(rng.below(3))},
                                              {"compile", static_cast<double>(rng.below(100))}};
    if (rng.below(10) > 0) features["memory"] = static_cast<double>(rng.below(1000));
    programs.push_back(
        accepted(id, Measurement{fitness, fitness - noise, fitness + noise, 9, "x"}, std::move(features)));
  }
  return programs;
}

Objectives three(Rule rule) {
  return Objectives::create({{"fitness"}, {"memory", true}, {"compile", true}}, rule).value();
}

Archive three_cells(Rule rule) {
  return Archive(Grid::create({{"a", LinearScale{0, 3, 3}}}).value(), three(rule));
}

using Bests = std::map<std::pair<Cell, std::size_t>, double>;

/// The best value of each objective in each cell.
Bests bests_of(const Archive& archive) {
  Bests bests;
  for (const Elite& elite : archive.elites())
    for (std::size_t i = 0; i < archive.objectives().list().size(); ++i) {
      const double value = archive.objectives().value(i, *elite.individual->evaluation.metrics());
      const auto [at, is_new] = bests.emplace(std::pair(elite.cell, i), value);
      at->second = std::max(at->second, value);
    }
  return bests;
}

TEST(FrontProperty, NothingInItIsBeatenAndNoBestGetsWorse) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Archive archive = three_cells(Rule::pareto);
    Bests before;
    bool was_full = false;
    for (const IndividualPtr& one : random_programs(seed, 300)) {
      const std::size_t size = archive.elites().size();
      const AddOutcome outcome = archive.add(one);
      if (!outcome.placed()) {
        EXPECT_EQ(archive.elites().size(), size);
      }
      const Bests now = bests_of(archive);
      for (const auto& [of, best] : before) ASSERT_GE(now.at(of), best);
      before = now;
      std::map<Cell, std::size_t> members;
      for (const Elite& a : archive.elites()) {
        was_full = was_full || ++members[a.cell] == Archive::kMostInCell;
        ASSERT_LE(members[a.cell], Archive::kMostInCell);
        for (const Elite& b : archive.elites()) {
          const Metrics &of_a = *a.individual->evaluation.metrics(),
                        &of_b = *b.individual->evaluation.metrics();
          ASSERT_FALSE(a.cell == b.cell && archive.objectives().dominates(of_a, of_b));
        }
      }
    }
    EXPECT_TRUE(was_full);
  }
}

TEST(FrontProperty, WithoutNoiseAndOverflowTheOrderOfArrivalDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < 40; seed += 2) {
    auto programs = random_programs(seed, 20);
    const auto text_of = [&] {
      Archive archive = three_cells(Rule::pareto);
      for (const IndividualPtr& one : programs) archive.add(one);
      return archive.to_text();
    };
    const std::string text = text_of();
    Rng(seed, 1, Purpose::evaluation).shuffle(std::span(programs));
    EXPECT_EQ(text_of(), text) << "seed " << seed;
  }
}

TEST(FrontProperty, RanksAreAPermutationOfTheElitesInOrder) {
  Archive archive = three_cells(Rule::pareto);
  for (const IndividualPtr& one : random_programs(4, 300)) archive.add(one);
  std::vector<const Elite*> seen;
  for (std::size_t rank = 0; rank < archive.elites().size(); ++rank) {
    seen.push_back(&archive.ranked(rank));
    if (rank > 0) {
      EXPECT_GE(seen[rank - 1]->fitness, seen[rank]->fitness);
    }
  }
  std::ranges::sort(seen);
  EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end());
}

TEST(InOrder, ATieIsDecidedByTheNextObjective) {
  Archive archive = one_cell(Rule::lexicographic);
  archive.add(about(1, 2, 9));
  EXPECT_EQ(archive.add(about(2, 2.05, 10)).status, AddStatus::not_better);
  EXPECT_EQ(archive.add(about(3, 1.95, 3)).status, AddStatus::improved);
  EXPECT_EQ(archive.add(about(4, 1.95, 3)).status, AddStatus::ambiguous) << "nothing tells them apart";
  EXPECT_EQ(archive.add(about(5, 3, 99)).status, AddStatus::improved) << "beyond the noise the first decides";
  EXPECT_THAT(ids(archive), ElementsAre(5));
}

TEST(InOrder, ManySmallStepsDoNotLeadFarFromTheFastest) {
  Archive archive = one_cell(Rule::lexicographic);
  archive.add(about(1, 2, 50));
  for (std::uint64_t id = 2; id < 40; ++id)
    archive.add(about(id, 2 - 0.05 * static_cast<double>(id), 50 - static_cast<double>(id)));
  EXPECT_GE(archive.best()->evaluation.metrics()->fitness().median, 1.8);
  EXPECT_NE(archive.best()->program->id, ProgramId{1});
  EXPECT_THAT(archive.to_text(), HasSubstr(" 2 1.9 2.1\n")) << "how fast the fastest was";
}

TEST(InOrder, AWonDuelTakesTheCell) {
  Archive archive = one_cell(Rule::lexicographic);
  archive.add(about(1, 2, 5));
  EXPECT_EQ(archive.settle(about(2, 2.1, 5), ProgramId{1}).status, AddStatus::improved);
  EXPECT_THAT(ids(archive), ElementsAre(2));
  EXPECT_EQ(archive.withdraw(ProgramId{2}), std::vector{Cell{0}});
  EXPECT_EQ(archive.add(about(3, 1, 5)).status, AddStatus::new_cell) << "what left the cell binds nobody";
}

TEST(InOrderProperty, ACellHoldsOneThatTiesWithItsFastestAtLeast) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Archive archive = three_cells(Rule::lexicographic);
    std::map<Cell, Measurement> fastest;
    for (const IndividualPtr& one : random_programs(seed, 300)) {
      const AddOutcome outcome = archive.add(one);
      const Measurement& fitness = one->evaluation.metrics()->fitness();
      if (outcome.placed() &&
          fitness.median > fastest.try_emplace(outcome.cell, fitness).first->second.median)
        fastest[outcome.cell] = fitness;
    }
    ASSERT_EQ(archive.elites().size(), 3U);
    for (const Elite& elite : archive.elites())
      EXPECT_GE(elite.individual->evaluation.metrics()->fitness().high, fastest.at(elite.cell).low);
  }
}

}  // namespace
}  // namespace kernelsmith

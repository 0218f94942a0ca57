// The default sampler: its opening, whom it chooses and what it shows.
#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/islands/sampler.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using testing::child;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::rejected;

Island empty_island() { return Island(Grid::create({{"a", LinearScale{0, 100, 100}}}).value()); }

/// A seed of fitness 1, and children 1 to n, of fitness 1 + k in cell k.
Island island_of(std::uint64_t children) {
  Island made = empty_island();
  made.add(accepted(0, 1));
  for (std::uint64_t k = 1; k <= children; ++k)
    made.add(child(k, static_cast<double>(k + 1), {{"a", static_cast<double>(k)}}));
  return made;
}

Selection sample(const Island& from, TreeOptions options = {}) {
  Rng rng(42, from.visits(), Purpose::sampling);
  return TreeSampler::create(options).value().sample(from, rng);
}

/// The parents of the next `count` tickets, each of which is a visit.
std::vector<std::uint64_t> next_parents(Island& from, int count, TreeOptions options = {}) {
  std::vector<std::uint64_t> parents;
  for (int i = 0; i < count; ++i) {
    const ProgramId parent = sample(from, options).parent->program->id;
    parents.push_back(parent.value);
    from.visit(parent);
  }
  return parents;
}

TEST(TreeSampler, OpensWithTheSeedAloneUntilEnoughProgramsJoined) {
  const Selection opening = sample(island_of(4), {.opening = 5});
  EXPECT_EQ(opening.parent->program->id.value, 0U);
  EXPECT_THAT(opening.top, IsEmpty());
  EXPECT_THAT(opening.inspirations, IsEmpty());
  EXPECT_EQ(sample(island_of(5), {.opening = 5}).parent->program->id.value, 5U);
}

/// What draw_inspirations() says: each the farthest of four random others, which are one after the other
/// taken out of a list.
std::vector<std::uint64_t> inspirations_from_a_list(const Island& from, const Selection& shown,
                                                    std::size_t count, Rng rng) {
  std::vector<const Elite*> pool;
  for (const Elite& elite : from.archive().elites())
    if (elite.individual != shown.parent && std::ranges::find(shown.top, elite.individual) == shown.top.end())
      pool.push_back(&elite);
  const Grid& grid = from.archive().grid();
  std::vector<Cell> cells{grid.cell_of(*shown.parent->evaluation.metrics())};
  std::vector<std::uint64_t> drawn;
  while (drawn.size() < count && !pool.empty()) {
    std::size_t farthest = 0;
    double distance = -1;
    for (int i = 0; i < 4; ++i) {
      const auto candidate = static_cast<std::size_t>(rng.below(pool.size()));
      double nearest = 1;
      for (const Cell cell : cells) nearest = std::min(nearest, grid.distance(pool[candidate]->cell, cell));
      if (nearest > distance) farthest = candidate;
      distance = std::max(distance, nearest);
    }
    std::swap(pool[farthest], pool.back());
    drawn.push_back(pool.back()->individual->program->id.value);
    cells.push_back(pool.back()->cell);
    pool.pop_back();
  }
  return drawn;
}

TEST(TreeSampler, DrawsInspirationsAsFromAListOfAllOthers) {
  const TreeOptions options{.uniform = 0, .opening = 0, .inspirations = 9};
  for (const std::uint64_t children : {3, 6, 11, 12, 13, 60}) {
    Island home = island_of(children);
    for (int i = 0; i < 40; ++i) {
      const Selection shown = sample(home, options);
      const auto drawn = testing::ids(shown.inspirations);
      EXPECT_EQ(drawn, inspirations_from_a_list(home, shown, options.inspirations,
                                                Rng(42, home.visits(), Purpose::sampling)));
      EXPECT_EQ(drawn.size(), std::min<std::size_t>(options.inspirations, children - shown.top.size()));
      home.visit(shown.parent->program->id);
    }
  }
}

TEST(TreeSampler, AnOpeningInWhichMostFailEnds) {
  Island home = island_of(1);
  EXPECT_THAT(next_parents(home, 7, {.opening = 3}), ElementsAre(0, 0, 0, 0, 0, 0, 1));
}

TEST(TreeSampler, OpensFromEachSeedInTurn) {
  Island home = empty_island();
  for (const std::uint64_t seed : {0, 1}) home.add(accepted(seed, 1));
  EXPECT_THAT(next_parents(home, 4), ElementsAre(0, 1, 0, 1));
}

TEST(TreeSampler, WithoutASeedThereIsNoOpening) {
  Island home = empty_island();
  home.add(child(1, 2));
  EXPECT_EQ(sample(home).parent->program->id.value, 1U);
}

TEST(TreeSampler, TheBestComesFirstAndGivesWayAsItIsVisited) {
  Island home = island_of(3);
  const auto parents = next_parents(home, 40, {.opening = 0});
  EXPECT_EQ(parents.front(), 3U);
  EXPECT_EQ(std::set<std::uint64_t>(parents.begin(), parents.end()).size(), 4U);
  EXPECT_GT(std::ranges::count(parents, 3U), std::ranges::count(parents, 1U));
}

TEST(TreeSampler, WithoutExplorationTheParentIsTheBest) {
  Island home = island_of(3);
  EXPECT_THAT(next_parents(home, 3, {.exploration = 0, .opening = 0}), ElementsAre(3, 3, 3));
}

TEST(TreeSampler, ScalesOfFitnessMakeNoDifference) {
  Island close = empty_island(), far = empty_island();
  for (std::uint64_t k = 0; k < 6; ++k) {
    close.add(child(k, 1 + 1e-6 * static_cast<double>(k)));
    far.add(child(k, std::exp(static_cast<double>(k))));
  }
  EXPECT_EQ(next_parents(close, 30, {.opening = 0}), next_parents(far, 30, {.opening = 0}));
}

TEST(TreeSampler, ShowsTheBestOthersAndNobodyTwice) {
  const Selection selection = sample(island_of(12), {.top = 3, .inspirations = 4});
  EXPECT_THAT(testing::ids(selection.top), ElementsAre(11, 10, 9));
  std::set<IndividualPtr> shown{selection.parent};
  shown.insert(selection.top.begin(), selection.top.end());
  shown.insert(selection.inspirations.begin(), selection.inspirations.end());
  EXPECT_EQ(shown.size(), 1U + 3U + 4U);
}

TEST(TreeSampler, WithoutAnEliteTheParentIsARejection) {
  Island home = empty_island();
  EXPECT_EQ(sample(home).parent, nullptr);
  home.add(rejected(1, Stage::compile));
  EXPECT_EQ(sample(home).parent->program->id.value, 1U);
  EXPECT_THAT(sample(home).failures, IsEmpty());
}

TEST(TreeSampler, TurnsToTheBestCellsTheLongerNothingImproves) {
  const TreeOptions options{.exploration = 0, .uniform = 1, .cells = 4, .patience = 10, .opening = 0};
  Island home = island_of(20);
  const auto parents = next_parents(home, 400, options);
  EXPECT_EQ(parents.front(), 20U);
  EXPECT_EQ(std::set<std::uint64_t>(parents.begin(), parents.end()),
            (std::set<std::uint64_t>{17, 18, 19, 20}));
  const auto others = [](std::span<const std::uint64_t> some) {
    return std::ranges::count_if(some, [](std::uint64_t parent) { return parent != 20; });
  };
  EXPECT_LT(others(std::span(parents).first(10)), 5);
  EXPECT_GT(others(std::span(parents).last(100)), 60);
  home.add(child(21, 22, {{"a", 1}}));
  EXPECT_THAT(next_parents(home, 1, options), ElementsAre(21)) << "it improves again";
}

TEST(TreeSampler, AProgramThatIsMeasuredAgainIsNoNewBest) {
  Island home = island_of(3);
  next_parents(home, 7);
  EXPECT_EQ(home.stalled(), 7U);
  home.withdraw(ProgramId{3});
  home.add_again(child(3, 4.5, {{"a", 3}}));
  EXPECT_EQ(home.stalled(), 7U);
  home.add(child(4, 9));
  EXPECT_EQ(home.stalled(), 0U);
}

TEST(TreeSampler, AGridOfOneCellHasNothingToTurnTo) {
  const TreeOptions options{.exploration = 0, .uniform = 1, .patience = 1, .opening = 0};
  Island one_cell(Grid::create({}).value());
  for (std::uint64_t k = 0; k < 20; ++k) one_cell.add(child(k, static_cast<double>(k)));
  EXPECT_THAT(next_parents(one_cell, 50, options), ::testing::Each(19));
  Island home = island_of(20);
  EXPECT_THAT(next_parents(home, 50, options), ::testing::Contains(19)) << "other axes make another search";
}

TEST(TreeSampler, RefusesWhatIsNoOption) {
  EXPECT_FALSE(TreeSampler::create({.uniform = 1.5}));
  EXPECT_FALSE(TreeSampler::create({.cells = 0}));
  EXPECT_FALSE(TreeSampler::create({.patience = 0}));
  EXPECT_FALSE(TreeSampler::create({.exploration = -1}));
  EXPECT_FALSE(TreeSampler::create({.exploration = std::numeric_limits<double>::quiet_NaN()}));
}

}  // namespace
}  // namespace kernelsmith

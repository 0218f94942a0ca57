#include <algorithm>
#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

#include <kernelsmith/archive/archive.hpp>
#include <kernelsmith/core/rng.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using testing::rejected;

Grid grid() { return Grid::create({{"a", LinearScale{0, 8, 8}}, {"b", LinearScale{0, 4, 4}}}).value(); }

Measurement noisy(double low, double median, double high) { return {median, low, high, 9, "x"}; }

/// Random individuals over, and somewhat beyond, the grid; of few different fitness values if `ties`.
std::vector<IndividualPtr> random_individuals(std::uint64_t seed, std::size_t count, bool ties) {
  Rng rng(seed, 0, Purpose::evaluation);
  std::vector<IndividualPtr> individuals;
  for (std::size_t i = 0; i < count; ++i) {
    const double fitness = ties ? static_cast<double>(rng.below(4)) : rng.normal();
    individuals.push_back(
        accepted(i, fitness, {{"a", 10 * rng.uniform() - 1}, {"b", 6 * rng.uniform() - 1}}));
  }
  return individuals;
}

std::map<Cell, double> fitness_by_cell(const Archive& archive) {
  std::map<Cell, double> fitness;
  for (const auto& elite : archive.elites()) fitness.emplace(elite.cell, elite.fitness);
  return fitness;
}

Archive archive_of(const std::vector<IndividualPtr>& individuals) {
  Archive archive(grid());
  for (const auto& individual : individuals) archive.add(individual);
  return archive;
}

TEST(Archive, AnEmptyOneHasNoBest) {
  const Archive archive(grid());
  EXPECT_EQ(archive.best(), nullptr);
  EXPECT_EQ(archive.statistics().best, std::nullopt);
  EXPECT_EQ(archive.statistics().mean, std::nullopt);
  EXPECT_EQ(archive.statistics().coverage, 0);
}

TEST(Archive, TellsWhatBecameOfAnAddition) {
  Archive archive(grid());
  const auto first = accepted(1, 1.0);
  const auto better = accepted(2, 2.0);

  const auto new_cell = archive.add(first);
  EXPECT_EQ(new_cell.status, AddStatus::new_cell);
  EXPECT_EQ(new_cell.incumbent, nullptr);
  EXPECT_TRUE(new_cell.placed());

  const auto improved = archive.add(better);
  EXPECT_EQ(improved.status, AddStatus::improved);
  EXPECT_EQ(improved.incumbent, first);
  EXPECT_EQ(archive.find(improved.cell)->individual, better);

  const auto worse = archive.add(accepted(3, 1.5));
  EXPECT_EQ(worse.status, AddStatus::not_better);
  EXPECT_EQ(worse.incumbent, better);
  EXPECT_FALSE(worse.placed());
  EXPECT_EQ(archive.best(), better);
}

TEST(Archive, AmongEqualsTheFirstStays) {
  Archive archive(grid());
  archive.add(accepted(7, 1.0));
  EXPECT_EQ(archive.add(accepted(3, 1.0)).status, AddStatus::not_better);
  EXPECT_EQ(archive.best()->program->id, ProgramId{7});
}

TEST(Archive, TheHigherLowEndIsTheElite) {
  Archive archive(grid());
  archive.add(accepted(1, noisy(4.144, 4.149, 5.459)));
  const auto vague = archive.add(accepted(2, noisy(4.1, 4.9, 5.8)));
  EXPECT_EQ(vague.status, AddStatus::ambiguous) << "its median is higher, but it may be slower";
  EXPECT_EQ(vague.incumbent->program->id, ProgramId{1});
  EXPECT_EQ(archive.add(accepted(3, noisy(4.66, 4.67, 5.316))).status, AddStatus::improved);
  EXPECT_EQ(archive.add(accepted(4, noisy(5.39, 5.40, 5.90))).status, AddStatus::improved);
  EXPECT_EQ(archive.best()->program->id, ProgramId{4});
  EXPECT_EQ(archive.ranked(0).fitness, 5.39);
}

TEST(Archive, AProgramIsNotDuelledWithItself) {
  Archive archive(grid());
  archive.add(accepted(1, noisy(0.9, 1.0, 1.1)));
  EXPECT_EQ(archive.add(accepted(1, noisy(0.9, 1.0, 1.1))).status, AddStatus::not_better);
}

TEST(Archive, ARejectionOwnsNoCell) {
  Archive archive(grid());
  EXPECT_THROW(archive.add(rejected(1, Stage::compile)), std::invalid_argument);
  EXPECT_THROW(archive.settle(rejected(1, Stage::compile), {}), std::invalid_argument);
  EXPECT_TRUE(archive.elites().empty());
}

TEST(Settle, AWonDuelTakesTheCellWhateverTheLowEndsSay) {
  Archive archive(grid());
  const auto incumbent = accepted(1, noisy(0.9, 1.2, 1.3));
  const auto challenger = accepted(2, noisy(0.8, 1.1, 1.3));
  archive.add(incumbent);
  const auto outcome = archive.settle(challenger, ProgramId{1});
  EXPECT_EQ(outcome.status, AddStatus::improved);
  EXPECT_EQ(outcome.incumbent, incumbent);
  EXPECT_EQ(archive.best(), challenger);
  EXPECT_EQ(archive.ranked(0).fitness, 0.8);
  EXPECT_EQ(archive.settle(incumbent, ProgramId{2}).status, AddStatus::improved) << "and back";
}

TEST(Settle, AWinnerMeetsWhoeverTookTheCellMeanwhile) {
  Archive archive(grid());
  archive.add(accepted(1, noisy(0.9, 1.0, 1.1)));
  archive.add(accepted(3, noisy(1.9, 2.0, 2.1)));
  const auto beaten = accepted(2, noisy(1.0, 1.1, 1.2));
  EXPECT_EQ(archive.settle(beaten, ProgramId{1}).status, AddStatus::not_better);
  const auto close = accepted(4, noisy(1.8, 2.1, 2.2));
  EXPECT_EQ(archive.settle(close, ProgramId{1}).status, AddStatus::ambiguous);
  const auto far = accepted(5, noisy(2.5, 2.6, 2.7));
  EXPECT_EQ(archive.settle(far, ProgramId{1}).status, AddStatus::improved);
}

TEST(ArchiveProperty, EveryCellHoldsTheBestThatCameToIt) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto individuals = random_individuals(seed, 400, seed % 2 == 0);
    std::map<Cell, double> best;
    for (const auto& individual : individuals) {
      const Metrics& metrics = *individual->evaluation.metrics();
      const auto [at, is_new] = best.emplace(grid().cell_of(metrics), metrics.fitness().median);
      if (!is_new) at->second = std::max(at->second, metrics.fitness().median);
    }
    EXPECT_EQ(fitness_by_cell(archive_of(individuals)), best) << "seed " << seed;
  }
}

TEST(ArchiveProperty, TheOrderOfArrivalDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const bool ties = seed % 2 == 0;
    auto individuals = random_individuals(seed, 400, ties);
    const Archive one = archive_of(individuals);
    Rng(seed, 1, Purpose::evaluation).shuffle(std::span(individuals));
    const Archive other = archive_of(individuals);
    EXPECT_EQ(fitness_by_cell(one), fitness_by_cell(other)) << "seed " << seed;
    EXPECT_TRUE(ties || one.to_text() == other.to_text()) << "seed " << seed;
  }
}

TEST(ArchiveProperty, RanksAreAPermutationOfTheElitesInOrder) {
  const Archive archive = archive_of(random_individuals(5, 1000, true));
  std::map<Cell, double> seen;
  for (std::size_t rank = 0; rank < archive.elites().size(); ++rank) {
    const Elite& elite = archive.ranked(rank);
    seen.emplace(elite.cell, elite.fitness);
    if (rank == 0) continue;
    const Elite& before = archive.ranked(rank - 1);
    EXPECT_TRUE(
        before.fitness > elite.fitness ||
        (before.fitness == elite.fitness && before.individual->program->id < elite.individual->program->id));
  }
  EXPECT_EQ(seen, fitness_by_cell(archive));
  EXPECT_EQ(archive.best(), archive.ranked(0).individual);
}

TEST(Archive, StatisticsAreWhatTheirNamesSay) {
  Archive archive(grid());
  archive.add(accepted(1, 1.0, {{"a", 0}, {"b", 0}}));
  archive.add(accepted(2, 4.0, {{"a", 7}, {"b", 3}}));
  const ArchiveStatistics statistics = archive.statistics(0.5);
  EXPECT_EQ(statistics.cells, 32U);
  EXPECT_EQ(statistics.filled, 2U);
  EXPECT_EQ(statistics.coverage, 2.0 / 32);
  EXPECT_EQ(statistics.qd_score, 0.5 + 3.5);
  EXPECT_EQ(statistics.best, 4.0);
  EXPECT_EQ(statistics.mean, 2.5);
}

TEST(Archive, TextIsCanonical) {
  Archive archive(Grid::create({{"a", LinearScale{0, 8, 8}}}).value());
  archive.add(accepted(2, 0.1, {{"a", 7}}));
  archive.add(accepted(1, noisy(1, 1.5, 2), {{"a", 0}}));
  EXPECT_EQ(archive.to_text(),
            "axis \"a\" linear 0 8 8\n"
            "cell 0 program 1 fitness 1.5 1 2\n"
            "cell 7 program 2 fitness 0.1 0.1 0.1\n");
}

TEST(Archive, WithdrawsAProgramFromEveryCellThatItHolds) {
  Archive archive(Grid::create({{"fitness", EdgeScale{{0, 1, 2}}}}).value());
  archive.add(accepted(1, 0.5));
  archive.add(accepted(1, 1.5));  // it was measured again
  EXPECT_EQ(archive.withdraw(ProgramId{1}), (std::vector{Cell{0}, Cell{1}}));
  EXPECT_EQ(archive.best(), nullptr);
}

TEST(Archive, WithdrawingAnEliteEmptiesItsCell) {
  Archive archive(grid());
  const auto other = accepted(1, 1.0, {{"a", 5}});
  archive.add(other);
  const Cell cell = archive.add(accepted(2, 2.0)).cell;
  EXPECT_EQ(archive.withdraw(ProgramId{2}), std::vector{cell});
  EXPECT_EQ(archive.find(cell), nullptr);
  EXPECT_EQ(archive.best(), other);
  EXPECT_EQ(archive.elites().size(), 1U);
  EXPECT_TRUE(archive.withdraw(ProgramId{2}).empty());
}

}  // namespace
}  // namespace kernelsmith

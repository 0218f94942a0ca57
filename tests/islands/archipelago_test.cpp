#include <stdexcept>

#include <gtest/gtest.h>

#include <kernelsmith/islands/archipelago.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using testing::rejected;

IslandId i(std::uint32_t value) { return {value}; }

Grid grid() { return Grid::create({{"a", LinearScale{0, 10, 10}}}).value(); }

Archipelago ring(std::size_t islands) { return Archipelago(grid(), Topology::ring(islands).value()); }

Archipelago random_archipelago(std::uint64_t seed) {
  Archipelago archipelago = ring(4);
  Rng rng(seed, 0, Purpose::evaluation);
  for (std::uint64_t id = 0; id < 200; ++id) {
    const IslandId home = i(static_cast<std::uint32_t>(id % 4));
    if (rng.chance(0.3)) {
      archipelago.add(home, rejected(id, static_cast<Stage>(rng.below(8))));
    } else {
      archipelago.add(home, accepted(id, 1 + rng.uniform(), {{"a", 10 * rng.uniform()}}));
    }
  }
  return archipelago;
}

TEST(Archipelago, IslandsAreApart) {
  Archipelago archipelago = ring(2);
  archipelago.add(i(0), accepted(1, 1.0));
  EXPECT_NE(archipelago.island(i(0)).archive().best(), nullptr);
  EXPECT_EQ(archipelago.island(i(1)).archive().best(), nullptr);
  EXPECT_THROW(archipelago.add(i(2), accepted(2, 1.0)), std::out_of_range);
}

TEST(Archipelago, BestIsOverAllIslandsAndTheOlderOfEquals) {
  Archipelago archipelago = ring(3);
  EXPECT_EQ(archipelago.best(), nullptr);
  archipelago.add(i(0), accepted(5, 2.0));
  archipelago.add(i(1), accepted(4, 2.0));
  archipelago.add(i(2), accepted(3, 1.0));
  EXPECT_EQ(archipelago.best()->program->id, ProgramId{4});
}

TEST(Archipelago, SeveralObjectivesCountOverAllIslands) {
  const auto search = [](ObjectiveRule rule) {
    Archipelago archipelago(grid(), Topology::ring(2).value(), {},
                            Objectives::create({{"fitness"}, {"memory", true}}, rule).value());
    const auto about = [](std::uint64_t id, double fitness, double memory) {
      return accepted(id, Measurement{fitness, fitness - 0.1, fitness + 0.1, 9, "x"},
                      {{"a", 1}, {"memory", memory}});
    };
    archipelago.add(i(0), about(1, 2, 9));
    archipelago.add(i(1), about(2, 1.95, 5));
    archipelago.add(i(1), about(3, 1, 7));
    return archipelago;
  };
  const Archipelago pareto = search(ObjectiveRule::pareto), in_order = search(ObjectiveRule::lexicographic);
  EXPECT_EQ(pareto.best()->program->id, ProgramId{1});
  EXPECT_EQ(in_order.best()->program->id, ProgramId{2});
  ASSERT_EQ(pareto.elites().size(), 1U);
  EXPECT_EQ(pareto.elites().begin()->second.individual->program->id, ProgramId{1});
  EXPECT_EQ(in_order.elites().begin()->second.individual->program->id, ProgramId{2});
  EXPECT_EQ(testing::ids(pareto.front()), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(pareto.statistics().filled, 1U);
}

TEST(Migrate, PutsTheSameIndividualOnTheOtherIsland) {
  Archipelago archipelago = ring(2);
  const auto individual = accepted(1, 1.0);
  archipelago.add(i(0), individual);
  const auto moves = archipelago.migrate(BestMigration(1), 0, 1);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].to, i(1));
  EXPECT_EQ(moves[0].outcome.status, AddStatus::new_cell);
  EXPECT_EQ(archipelago.island(i(1)).archive().best().get(), individual.get());
  EXPECT_EQ(archipelago.island(i(0)).archive().best().get(), individual.get());
}

TEST(Migrate, MovesOneEdgeAnEpoch) {
  Archipelago archipelago = ring(4);
  archipelago.add(i(0), accepted(1, 1.0));
  for (std::uint32_t epoch = 1; epoch < 4; ++epoch) {
    for (std::uint32_t island = epoch; island < 4; ++island) {
      EXPECT_EQ(archipelago.island(i(island)).archive().best(), nullptr) << "before epoch " << epoch;
    }
    archipelago.migrate(BestMigration(1), 0, epoch);
    EXPECT_NE(archipelago.island(i(epoch)).archive().best(), nullptr);
  }
}

TEST(Migrate, SettlesWhereItsLowEndIsHigher) {
  Archipelago archipelago = ring(2);
  archipelago.add(i(0), accepted(1, Measurement{1.2, 1.0, 1.4, 9, "x"}));
  archipelago.add(i(1), accepted(2, Measurement{1.1, 0.9, 1.3, 9, "x"}));
  const auto moves = archipelago.migrate(BestMigration(1), 0, 1);
  EXPECT_EQ(moves.at(0).outcome.status, AddStatus::improved);
  EXPECT_EQ(moves.at(1).outcome.status, AddStatus::ambiguous);
  EXPECT_EQ(archipelago.best()->program->id, ProgramId{1});
}

TEST(Migrate, DependsOnStateSeedAndEpochAlone) {
  const Archipelago before = random_archipelago(3);
  const auto after = [&](std::uint64_t seed, std::uint64_t epoch) {
    Archipelago archipelago = before;
    archipelago.migrate(WeightedMigration(2), seed, epoch);
    return archipelago.to_text();
  };
  EXPECT_EQ(after(1, 1), after(1, 1));
  EXPECT_NE(after(1, 1), before.to_text());
  EXPECT_NE(after(1, 1), after(1, 2));
  EXPECT_NE(after(1, 1), after(2, 1));
}

TEST(Archipelago, EqualHistoriesHaveEqualTexts) {
  EXPECT_EQ(random_archipelago(7).to_text(), random_archipelago(7).to_text());
  EXPECT_NE(random_archipelago(7).to_text(), random_archipelago(8).to_text());
}

TEST(Archipelago, TextHoldsTheFailuresToo) {
  Archipelago archipelago = ring(1);
  archipelago.add(i(0), accepted(1, 2.0));
  archipelago.add(i(0), rejected(2, Stage::run));
  archipelago.add(i(0), rejected(3, Stage::compile));
  EXPECT_EQ(archipelago.to_text(),
            "island 0\n"
            "axis \"a\" linear 0 10 10\n"
            "cell 0 program 1 fitness 2 2 2\n"
            "joined 0 visits 0 stalled 0 1:0\n"
            "rejections 2 3\n"
            "recent_failures 3 2\n");
}

TEST(Archipelago, ACellThatTwoIslandsFilledCountsOnce) {
  Archipelago archipelago = ring(2);
  archipelago.add(i(0), accepted(1, 1.0, {{"a", 1}}));
  archipelago.add(i(1), accepted(2, 3.0, {{"a", 1}}));
  archipelago.add(i(1), accepted(3, 2.0, {{"a", 5}}));
  const auto statistics = archipelago.statistics();
  EXPECT_EQ(statistics.filled, 2U);
  EXPECT_EQ(statistics.coverage, 0.2);
  EXPECT_EQ(statistics.qd_score, 5.0);
  EXPECT_EQ(statistics.best, 3.0);
}

TEST(Archipelago, ADuelIsSettledOnItsIsland) {
  Archipelago archipelago = ring(2);
  archipelago.add(i(1), accepted(1, Measurement{1.1, 0.9, 1.3, 9, "x"}));
  const auto challenger = accepted(2, Measurement{1.2, 0.8, 1.4, 9, "x"});
  ASSERT_EQ(archipelago.add(i(1), challenger)->status, AddStatus::ambiguous);
  EXPECT_TRUE(archipelago.settle(i(1), challenger, ProgramId{1}).placed());
  EXPECT_EQ(archipelago.best(), challenger);
}

}  // namespace
}  // namespace kernelsmith

#include <set>

#include <gtest/gtest.h>

#include <kernelsmith/islands/migration.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;

Island small_island() { return Island(Grid::create({{"a", LinearScale{0, 10, 10}}}).value()); }

/// Program k, of fitness k + 1, in cell k.
Island small_island_of(std::uint64_t elites) {
  Island made = small_island();
  for (std::uint64_t k = 0; k < elites; ++k) {
    made.add(accepted(k, static_cast<double>(k + 1), {{"a", static_cast<double>(k)}}));
  }
  return made;
}

Rng migration_stream(std::uint64_t epoch = 0) { return {1, epoch, Purpose::migration}; }

TEST(BestMigration, SendsTheBestFirst) {
  Rng rng = migration_stream();
  const auto migrants = BestMigration(2).migrants(small_island_of(5), small_island(), rng);
  ASSERT_EQ(migrants.size(), 2U);
  EXPECT_EQ(migrants[0]->program->id, ProgramId{4});
  EXPECT_EQ(migrants[1]->program->id, ProgramId{3});
}

TEST(WeightedMigration, SendsDifferentElites) {
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    Rng rng = migration_stream(epoch);
    std::set<ProgramId> sent;
    for (const auto& migrant : WeightedMigration(4).migrants(small_island_of(5), small_island(), rng)) {
      sent.insert(migrant->program->id);
    }
    EXPECT_EQ(sent.size(), 4U);
  }
}

TEST(WeightedMigration, DrawsInProportionToFitness) {
  constexpr int kDraws = 6000;
  Rng rng = migration_stream();
  const Island from = small_island_of(3);  // of fitness 1, 2 and 3
  int best = 0;
  for (int i = 0; i < kDraws; ++i) {
    if (WeightedMigration(1).migrants(from, small_island(), rng).front()->program->id == ProgramId{2}) ++best;
  }
  EXPECT_NEAR(best, kDraws / 2, 200) << "five standard deviations";
}

TEST(Migration, SendsNoMoreThanThereAre) {
  Rng rng = migration_stream();
  EXPECT_EQ(BestMigration(9).migrants(small_island_of(2), small_island(), rng).size(), 2U);
  EXPECT_EQ(WeightedMigration(9).migrants(small_island_of(2), small_island(), rng).size(), 2U);
  EXPECT_TRUE(BestMigration(9).migrants(small_island(), small_island(), rng).empty());
  EXPECT_TRUE(WeightedMigration(9).migrants(small_island(), small_island(), rng).empty());
}

}  // namespace
}  // namespace kernelsmith

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/islands/island.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using ::testing::ElementsAre;
using testing::rejected;

std::vector<std::uint64_t> ids(std::span<const IndividualPtr> individuals) {
  std::vector<std::uint64_t> found;
  for (const auto& individual : individuals) found.push_back(individual->program->id.value);
  return found;
}

Island island(IslandOptions options = {}) { return Island(Grid::create({}).value(), options); }

TEST(Island, AnAcceptedIndividualGoesToTheArchive) {
  Island home = island();
  EXPECT_EQ(home.add(accepted(1, 1.0))->status, AddStatus::new_cell);
  EXPECT_TRUE(home.rejections().empty());
  EXPECT_TRUE(home.recent_failures().empty());
}

TEST(Island, ARejectionOwnsNoCell) {
  Island home = island();
  EXPECT_EQ(home.add(rejected(1, Stage::timing)), std::nullopt);
  EXPECT_TRUE(home.archive().elites().empty());
}

TEST(Island, RejectionsAreRankedByTheFurthestStageThenByRecency) {
  Island home = island();
  home.add(rejected(1, Stage::compile));
  home.add(rejected(2, Stage::correctness));
  home.add(rejected(3, Stage::parse));
  home.add(rejected(4, Stage::correctness));
  home.add(rejected(5, Stage::compile));
  EXPECT_THAT(ids(home.rejections()), ElementsAre(4, 2, 5, 1, 3));
  EXPECT_THAT(ids(home.recent_failures()), ElementsAre(5, 4, 3, 2, 1));
}

TEST(Island, BothListsAreBounded) {
  Island home = island({.rejections = 2, .recent_failures = 3});
  home.add(rejected(1, Stage::correctness));
  for (std::uint64_t id = 2; id < 10; ++id) home.add(rejected(id, Stage::compile));
  EXPECT_THAT(ids(home.rejections()), ElementsAre(1, 9)) << "the one that came furthest is not pushed out";
  EXPECT_THAT(ids(home.recent_failures()), ElementsAre(9, 8, 7));
}

TEST(Island, AlwaysKeepsAParent) {
  Island home = island({.rejections = 0, .recent_failures = 0});
  home.add(rejected(1, Stage::compile));
  EXPECT_THAT(ids(home.rejections()), ElementsAre(1));
  EXPECT_TRUE(home.recent_failures().empty());
}

}  // namespace
}  // namespace kernelsmith

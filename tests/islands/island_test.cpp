#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/islands/island.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using ::testing::ElementsAre;
using testing::ids;
using testing::rejected;

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

TEST(Island, WithSeveralObjectivesLeadersStandByFronts) {
  const auto objectives = [](ObjectiveRule rule) {
    return Objectives::create({{"fitness"}, {"memory", true}}, rule).value();
  };
  const auto leaders = [&](const Objectives& of) {
    Island home(Grid::create({}).value(), {}, of);
    home.add(accepted(1, 3.0, {{"memory", 9}}));
    home.add(accepted(2, 2.9, {{"memory", 9}}));
    home.add(accepted(3, 1.0, {{"memory", 2}}));
    home.add(accepted(4, 0.5, {{"memory", 2}}));
    home.add(accepted(5, 2.8, {{"memory", 10}}));
    return ids(home.leaders());
  };
  EXPECT_THAT(leaders(objectives(ObjectiveRule::pareto)), ElementsAre(1, 3, 2, 4, 5));
  EXPECT_THAT(leaders(objectives(ObjectiveRule::lexicographic)), ElementsAre(1, 2, 5, 3, 4));
  EXPECT_THAT(leaders({}), ElementsAre(1, 2, 5, 3, 4));
}

TEST(Island, AlwaysKeepsAParent) {
  Island home = island({.rejections = 0, .recent_failures = 0});
  home.add(rejected(1, Stage::compile));
  EXPECT_THAT(ids(home.rejections()), ElementsAre(1));
  EXPECT_TRUE(home.recent_failures().empty());
}

TEST(Island, LeadersAreTheBestWhateverTheirCells) {
  Island home = island();
  for (std::uint64_t k = 0; k < 2 * Island::kMaxLeaders; ++k)
    home.add(testing::child(k, static_cast<double>(k % 50)));
  ASSERT_EQ(home.leaders().size(), Island::kMaxLeaders);
  EXPECT_EQ(home.leaders().front()->program->id.value, 49U);
  EXPECT_EQ(home.archive().elites().size(), 1U);
}

TEST(Island, AmongEqualLeadersTheOlderComesFirst) {
  Island home = island();
  for (const std::uint64_t program : {3, 1, 2}) home.add(testing::child(program, 1.0));
  EXPECT_THAT(ids(home.leaders()), ElementsAre(1, 2, 3));
}

TEST(Island, ALeaderThatIsMeasuredAgainStandsOnce) {
  Island home = island();
  home.add(testing::child(1, 1.0));
  home.add(testing::child(2, 2.0));
  home.add(testing::child(1, 3.0));
  EXPECT_THAT(ids(home.leaders()), ElementsAre(1, 2));
}

TEST(Island, AWithdrawnProgramLeadsNoMore) {
  Island home = island();
  home.add(accepted(0, 1.0));
  home.add(testing::child(1, 2.0));
  home.withdraw(ProgramId{1});
  EXPECT_THAT(ids(home.leaders()), ElementsAre(0));
  home.withdraw(ProgramId{0});
  EXPECT_TRUE(home.roots().empty());
}

TEST(Island, CountsVisitsAndWhatJoined) {
  Island home = island();
  home.add(accepted(0, 1.0));
  home.add(testing::child(1, 2.0));
  home.add(rejected(2, Stage::compile));
  home.visit(ProgramId{0});
  home.visit(std::nullopt);
  EXPECT_EQ(home.joined(), 1U);
  EXPECT_EQ(home.visits(), 2U);
  EXPECT_EQ(home.visits(ProgramId{0}), 1U);
  EXPECT_EQ(home.visits(ProgramId{1}), 0U);
}

}  // namespace
}  // namespace kernelsmith

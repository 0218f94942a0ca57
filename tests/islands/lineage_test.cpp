#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/islands/lineage.hpp>

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;

ProgramId p(std::uint64_t value) { return {value}; }

/// 0 is the seed; 1 and 2 are its children; 3 crosses 2 with 1; 4 derives from 3.
Lineage family() {
  Lineage lineage;
  EXPECT_TRUE(lineage.add(p(0), {}));
  EXPECT_TRUE(lineage.add(p(1), {p(0)}));
  EXPECT_TRUE(lineage.add(p(2), {p(0)}));
  EXPECT_TRUE(lineage.add(p(3), {p(2), p(1)}));
  EXPECT_TRUE(lineage.add(p(4), {p(3)}));
  return lineage;
}

TEST(Lineage, PathFollowsTheFirstParents) {
  EXPECT_THAT(family().path_to_seed(p(4)), ElementsAre(p(4), p(3), p(2), p(0)));
  EXPECT_THAT(family().path_to_seed(p(0)), ElementsAre(p(0)));
  EXPECT_THAT(family().path_to_seed(p(4), 2), ElementsAre(p(4), p(3), p(2)));
}

TEST(Lineage, ChildrenNameTheirParents) {
  const Lineage known = family();
  EXPECT_THAT(known.children(p(0)), ElementsAre(p(1), p(2)));
  EXPECT_THAT(known.children(p(1)), ElementsAre(p(3))) << "also as the second parent";
  EXPECT_THAT(known.children(p(4)), ElementsAre());
}

TEST(Lineage, ChildrenAscendWhateverArrivesFirst) {
  Lineage lineage = family();
  for (const std::uint64_t late : {9, 6, 8}) EXPECT_TRUE(lineage.add(p(late), {p(0), p(0)}));
  EXPECT_THAT(lineage.children(p(0)), ElementsAre(p(1), p(2), p(6), p(8), p(9)));
}

TEST(Lineage, RefusesWhatWouldMakeACircle) {
  Lineage lineage = family();
  EXPECT_FALSE(lineage.add(p(5), {p(5)}));
  EXPECT_FALSE(lineage.add(p(5), {p(9)}));
  EXPECT_FALSE(lineage.add(p(0), {p(4)}));
  EXPECT_EQ(lineage.size(), 5U);
}

TEST(Lineage, AnUnknownProgramIsAProgrammingMistake) {
  EXPECT_THROW(family().path_to_seed(p(9)), std::out_of_range);
  EXPECT_THROW(family().children(p(9)), std::out_of_range);
}

}  // namespace
}  // namespace kernelsmith

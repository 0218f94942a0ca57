#include "dealing.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith {
namespace {

using Sets = std::vector<std::size_t>;

TEST(Dealing, ACandidatesTrialsAndPairsShareNoSet) {
  SecretStream random;
  for (const std::size_t sets : {1U, 3U, 8U, 40U, 200U}) {
    Deal deal = Deal::split(sets, random);
    std::set<std::size_t> seen;
    for (Hand* const hand : {&deal.trials, &deal.pairs}) {
      hand->gather(deal.first_met, sets, random);
      for (const std::size_t set : hand->take(hand->left())) EXPECT_TRUE(seen.insert(set).second);
    }
    EXPECT_EQ(seen.size(), sets);
    EXPECT_GT(deal.trials.size(), 0U);
    EXPECT_GE(deal.pairs.size(), sets >= 8 ? sets / 2 : 0);
  }
}

TEST(Dealing, WhatIsTrustedHasAllSetsForEverything) {
  const Deal deal(9);
  EXPECT_EQ(deal.trials.size(), 9U);
  EXPECT_EQ(deal.pairs.size(), 9U);
}

TEST(Dealing, AProcessIsShownEachSetOnceAndSomeNewOnesFirst) {
  SecretStream random;
  const std::size_t sets = 20, unmet = 4;
  Hand hand(Sets{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
  std::vector<std::size_t> first_met(sets, 0);
  for (std::size_t set = 0; set < 10; ++set) first_met[set] = 1;
  hand.gather(first_met, unmet, random);
  EXPECT_FALSE(hand.stale());
  ASSERT_EQ(hand.left(), 10 + unmet) << "the other new sets are for later processes";
  for (const std::size_t set : hand.take(unmet)) EXPECT_EQ(first_met[set], 0U);
  Sets met = hand.take(hand.left());
  std::ranges::sort(met);
  EXPECT_EQ(met, Sets({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(hand.left(), 0U);
}

TEST(Dealing, NewSetsAreSharedOutInWholeTakes) {
  const auto share = [](std::size_t sets, std::size_t rows) {
    return Hand(Sets(sets, 0)).share_of_unmet(rows);
  };
  EXPECT_EQ(share(16, 1), 4U);
  EXPECT_EQ(share(15, 2), 4U) << "3 would leave the second pair one new set and one that was met";
  EXPECT_EQ(share(15, 5), 5U);
  EXPECT_EQ(share(15, 7), 7U);
  EXPECT_EQ(share(40, 4), 12U);
  EXPECT_EQ(share(0, 4), 0U);
}

TEST(Dealing, TheOrderChangesFromProcessToProcess) {
  SecretStream random;
  Deal deal = Deal::split(150, random);
  const auto order = [&] {
    deal.pairs.gather(deal.first_met, deal.pairs.size(), random);
    return deal.pairs.take(deal.pairs.left());
  };
  EXPECT_NE(order(), order());
}

TEST(Dealing, ChosenSetsComeAsTheyAre) {
  Hand hand = Hand::of({5, 2, 7});
  EXPECT_FALSE(hand.stale());
  EXPECT_EQ(hand.take(2), Sets({5, 2}));
  EXPECT_EQ(hand.left(), 1U);
}

}  // namespace
}  // namespace kernelsmith

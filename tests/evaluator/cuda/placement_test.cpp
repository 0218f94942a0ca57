#include "runner/placement.hpp"

#include <random>

#include "testing.hpp"

namespace kernelsmith::cuda {
namespace {

RandomBelow seeded(unsigned seed) {
  return [generator = std::mt19937_64(seed)](std::uint64_t limit) mutable { return generator() % limit; };
}

TEST(Placement, PiecesStandApartFromEachOtherAndFromTheEnds) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Placement placement(200);
    const auto below = seeded(seed);
    std::map<std::uint64_t, std::uint64_t> pieces;
    for (std::uint64_t count = 1; count <= 12; ++count)
      if (const auto begin = placement.take(count, below)) pieces[*begin] = count;
    std::uint64_t end = 0;
    for (const auto& [begin, count] : pieces) {
      EXPECT_GT(begin, end) << "a free granule in front";
      end = begin + count;
    }
    EXPECT_LT(end, 200U) << "and one behind the last";
  }
}

TEST(Placement, EveryFreePlaceIsDrawn) {
  Placement taken(12);
  ASSERT_EQ(taken.take(2, [](std::uint64_t) { return 3; }), 4U);
  std::map<std::uint64_t, int> drawn;
  for (std::uint64_t choice = 0;; ++choice) {
    Placement placement = taken;
    std::uint64_t all = 0;
    const auto begin = placement.take(2, [&](std::uint64_t limit) {
      all = limit;
      return choice % limit;
    });
    if (choice == all) break;
    ++drawn[*begin];
  }
  EXPECT_EQ(drawn, (std::map<std::uint64_t, int>{{1, 1}, {7, 1}, {8, 1}, {9, 1}}));
}

TEST(Placement, APlaceGivenBackCanBeTakenAgain) {
  Placement placement(5);
  const auto below = seeded(1);
  ASSERT_EQ(placement.take(3, below), 1U);
  EXPECT_EQ(placement.take(1, below), std::nullopt);
  placement.give_back(1);
  EXPECT_EQ(placement.take(3, below), 1U);
}

TEST(Placement, WhatIsLargerThanTheRangeHasNoPlace) {
  Placement placement(5);
  EXPECT_EQ(placement.take(4, seeded(1)), std::nullopt);
  EXPECT_EQ(placement.take(std::uint64_t{1} << 63, seeded(1)), std::nullopt);
  EXPECT_EQ(Placement(0).take(1, seeded(1)), std::nullopt);
}

TEST(RandomFromSystem, StaysBelowItsLimit) {
  const auto below = random_from_system();
  for (int i = 0; i < 100; ++i) EXPECT_LT(below(3), 3U);
  EXPECT_EQ(below(1), 0U);
}

}  // namespace
}  // namespace kernelsmith::cuda

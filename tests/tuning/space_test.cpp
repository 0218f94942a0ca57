#include <set>

#include <gmock/gmock.h>

#include <kernelsmith/tuning/space.hpp>

namespace kernelsmith {
namespace {

TuningSpace made(std::vector<TuningDimension> dimensions,
                 std::optional<std::vector<TuningPoint>> valid = std::nullopt) {
  return TuningSpace::create(std::move(dimensions), std::move(valid)).value();
}

const TuningDimension kTile{"tile", 3, {8, 16, 32}};
const TuningDimension kLayout{"layout", 2, {}};

TEST(TuningSpaceTest, RefusesWhatIsNoSpace) {
  EXPECT_FALSE(TuningSpace::create({}));
  EXPECT_FALSE(TuningSpace::create({{"none", 0, {}}}));
  EXPECT_FALSE(TuningSpace::create({{"short", 3, {1, 2}}}));
  EXPECT_FALSE(TuningSpace::create({kTile}, std::vector<TuningPoint>{}));
  EXPECT_FALSE(TuningSpace::create({kTile}, std::vector<TuningPoint>{{3}}));
  EXPECT_FALSE(TuningSpace::create({kTile}, std::vector<TuningPoint>{{0, 0}}));
}

void expect_one_round_through_all(const TuningSpace& space) {
  std::set<TuningPoint> seen;
  TuningPoint point = space.first();
  do {
    EXPECT_TRUE(space.contains(point));
    EXPECT_TRUE(seen.insert(point).second);
    point = space.after(point);
  } while (point != space.first());
  EXPECT_EQ(seen.size(), space.size());
}

TEST(TuningSpaceTest, OrderGoesThroughEveryPointOnce) {
  expect_one_round_through_all(made({kTile, kLayout}));
  expect_one_round_through_all(made({kTile, kLayout}, {{{2, 1}, {0, 0}, {1, 1}, {0, 0}}}));
}

TEST(TuningSpaceTest, NeighboursDifferInOneDimensionAndGoBothWays) {
  for (const TuningSpace& space :
       {made({kTile, kLayout}), made({kTile, kLayout}, {{{2, 1}, {0, 1}, {1, 1}, {0, 0}}})}) {
    TuningPoint point = space.first();
    do {
      for (const TuningPoint& near : space.neighbours(point)) {
        EXPECT_TRUE(space.contains(near));
        EXPECT_EQ((near[0] != point[0]) + (near[1] != point[1]), 1);
        EXPECT_THAT(space.neighbours(near), testing::Contains(point));
      }
      point = space.after(point);
    } while (point != space.first());
  }
}

TEST(TuningSpaceTest, RandomPointsLieInTheSpace) {
  const auto space = made({kTile, kLayout}, {{{2, 1}, {0, 0}}});
  Rng rng(1, 0, Purpose::proposal);
  std::set<TuningPoint> seen;
  for (int i = 0; i < 40; ++i) seen.insert(space.random(rng));
  EXPECT_THAT(seen, testing::ElementsAre(TuningPoint{0, 0}, TuningPoint{2, 1}));
}

TEST(TuningSpaceTest, AVastSpaceHasTheLargestSize) {
  EXPECT_EQ(made(std::vector<TuningDimension>(70, kLayout)).size(),
            std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace kernelsmith

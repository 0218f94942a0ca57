// The bench's reader of Kernel Tuner's caches, on a made-up space of five points.
#include <cmath>
#include <string>

#include <gmock/gmock.h>

#include "tuning_cache.hpp"

namespace kernelsmith::bench {
namespace {

const std::string kCachefile = R"({"tune_params_keys": ["tile", "layout"],
  "tune_params": {"tile": [64, 8, 16], "layout": ["row", "column"]}, "cache": {
  "8,row": {"tile": 8, "layout": "row", "time": 4.0, "times": [3.9, 4.1]},
  "16,row": {"tile": 16, "layout": "row", "time": 2.0, "times": [1.0, 3.0]},
  "64,row": {"tile": 64, "layout": "row", "time": "RuntimeFailedConfig"},
  "8,column": {"tile": 8, "layout": "column", "time": 2.1, "times": [2.1, 2.1]},
  "16,column": {"tile": 16, "layout": "column", "time": 2.2, "times": [2.2, 2.2]}}})";

// Dimensions by name and values by size: the layouts are column and row, the tiles 8, 16 and 64.
const TuningPoint kSixteenRow{1, 1}, kSixtyFourRow{1, 2}, kEightColumn{0, 0}, kSixteenColumn{0, 1};

TEST(RecordedSpaceTest, ReadsPointsAndTimes) {
  const auto recorded = RecordedSpace::read(kCachefile).value();
  EXPECT_EQ(recorded.space().size(), 5u);
  EXPECT_EQ(recorded.space().dimensions(),
            (std::vector<TuningDimension>{{"layout", 2, {}}, {"tile", 3, {8, 16, 64}}}));
  EXPECT_FALSE(recorded.space().contains({0, 2}));
  EXPECT_DOUBLE_EQ(recorded.optimum(), 2);
  // The deviations of four points' repeats are 0, 0, a thirtieth and 0.7 of their means; this is the third.
  EXPECT_NEAR(recorded.noise(), std::sqrt(0.02) / 4, 1e-12);
  EXPECT_TRUE(recorded.near_optimum(kSixteenRow));
  EXPECT_TRUE(recorded.near_optimum(kEightColumn));
  EXPECT_FALSE(recorded.near_optimum(kSixteenColumn));
  EXPECT_FALSE(recorded.near_optimum(kSixtyFourRow));
}

TEST(RecordedSpaceTest, ServesMeansAndNoise) {
  const auto recorded = RecordedSpace::read(kCachefile).value();
  Rng rng(1, 0, Purpose::evaluation);
  EXPECT_EQ(recorded.observe(kSixtyFourRow, 0, rng).cost, std::nullopt);
  EXPECT_EQ(recorded.observe(kSixteenRow, 0, rng).cost, 2.0);
  std::set<double> costs;
  for (int i = 0; i < 40; ++i) costs.insert(*recorded.observe(kSixteenRow, 2, rng).cost);
  EXPECT_THAT(costs, testing::ElementsAre(1.0, 2.0, 3.0));
}

TEST(RecordedSpaceTest, RefusesOtherTexts) {
  EXPECT_FALSE(RecordedSpace::read("{}"));
  EXPECT_FALSE(RecordedSpace::read("not json"));
}

TEST(RecordedSpaceTest, SearchComesNearTheOptimum) {
  const auto recorded = RecordedSpace::read(kCachefile).value();
  std::vector<TuningObservation> seen;
  Rng rng(1, 0, Purpose::proposal);
  bool near = false;
  while (const auto point = next_point(recorded.space(), seen, rng)) {
    near = near || recorded.near_optimum(*point);
    seen.push_back(recorded.observe(*point, 0, rng));
  }
  EXPECT_TRUE(near);
  EXPECT_EQ(seen.size(), 5u);
}

}  // namespace
}  // namespace kernelsmith::bench

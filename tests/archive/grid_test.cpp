#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/archive/grid.hpp>

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;

Metrics metrics(std::map<std::string, double> features) {
  return Metrics::create(Measurement::exact(1), std::move(features)).value();
}

Grid grid_of_two_axes() {
  return Grid::create({{"a", LinearScale{0, 3, 3}}, {"b", CategoricalScale{{"p", "q"}}}}).value();
}

TEST(Grid, WithoutAxesHasOneCell) {
  const Grid grid = Grid::create({}).value();
  EXPECT_EQ(grid.cells(), 1U);
  EXPECT_EQ(grid.cell_of(metrics({{"a", 5}})), Cell{0});
  EXPECT_EQ(grid.distance({0}, {0}), 0);
}

TEST(Grid, EveryCombinationOfBinsIsOneCell) {
  const Grid grid = grid_of_two_axes();
  std::set<Cell> seen;
  for (const double a : {0.5, 1.5, 2.5}) {
    for (const double b : {0, 1}) seen.insert(grid.cell_of(metrics({{"a", a}, {"b", b}})));
  }
  EXPECT_EQ(seen.size(), grid.cells());
  EXPECT_EQ(seen.rbegin()->index, grid.cells() - 1);
}

TEST(Grid, CoordinatesAreTheBins) {
  const Grid grid = grid_of_two_axes();
  const Cell cell = grid.cell_of(metrics({{"a", 2.5}, {"b", 1}}));
  EXPECT_THAT(grid.coordinates(cell), ElementsAre(2U, 1U));
}

TEST(Grid, AnAbsentFeatureGoesToTheFirstBinAndIsNamed) {
  const Grid grid = grid_of_two_axes();
  const Metrics without_a = metrics({{"b", 1}, {"unused", 9}});
  EXPECT_THAT(grid.coordinates(grid.cell_of(without_a)), ElementsAre(0U, 1U));
  EXPECT_THAT(grid.absent_features(without_a), ElementsAre("a"));
  EXPECT_THAT(grid.absent_features(metrics({{"a", 1}, {"b", 1}})), ElementsAre());
}

TEST(Grid, DistanceRunsFromZeroToOne) {
  const Grid grid =
      Grid::create({{"a", LinearScale{0, 1, 5}}, {"b", CategoricalScale{{"p", "q", "r"}}}}).value();
  const auto cell = [&](double a, double b) { return grid.cell_of(metrics({{"a", a}, {"b", b}})); };
  EXPECT_EQ(grid.distance(cell(0, 0), cell(0, 0)), 0);
  EXPECT_EQ(grid.distance(cell(0, 0), cell(1, 2)), 1);
  EXPECT_EQ(grid.distance(cell(0, 0), cell(0.3, 0)), 0.125) << "one of four steps, on one of two axes";
  EXPECT_EQ(grid.distance(cell(0, 0), cell(0, 1)), grid.distance(cell(0, 0), cell(0, 2)))
      << "categories have no order";
}

TEST(Grid, RefusesTwoAxesOverOneFeature) {
  const auto grid = Grid::create({{"a", LinearScale{}}, {"a", LogarithmicScale{}}});
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().where, "axis 'a'");
}

TEST(Grid, RefusesMoreCellsThanItCanNumber) {
  const LinearScale fine{0, 1, Axis::kMaxBins};
  EXPECT_TRUE(Grid::create({{"a", fine}, {"b", fine}}));
  EXPECT_FALSE(Grid::create({{"a", fine}, {"b", fine}, {"c", fine}}));
  EXPECT_FALSE(Grid::create({{"a", fine}, {"b", fine}, {"c", fine}, {"d", fine}, {"e", fine}, {"f", fine}}));
}

TEST(Grid, AnAxisMayReadTheFitness) {
  const Grid grid = Grid::create({{"fitness", EdgeScale{{0, 1, 2}}}}).value();
  const Metrics fast = Metrics::create(Measurement::exact(1.5)).value();
  EXPECT_EQ(grid.cell_of(fast), Cell{1});
  EXPECT_TRUE(grid.absent_features(fast).empty());
}

}  // namespace
}  // namespace kernelsmith

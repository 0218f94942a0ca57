#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/islands/topology.hpp>

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;

IslandId id(std::uint32_t value) { return {value}; }

TEST(Topology, RingSendsToTheNext) {
  const Topology ring = Topology::ring(3).value();
  EXPECT_THAT(ring.neighbours(id(0)), ElementsAre(id(1)));
  EXPECT_THAT(ring.neighbours(id(2)), ElementsAre(id(0)));
  EXPECT_EQ(ring.edges().size(), 3U);
}

TEST(Topology, ALoneIslandSendsToNobody) {
  for (const auto& lone : {Topology::ring(1), Topology::full(1), Topology::star(1)}) {
    EXPECT_EQ(lone.value().islands(), 1U);
    EXPECT_TRUE(lone.value().edges().empty());
    EXPECT_TRUE(lone.value().strongly_connected());
  }
}

TEST(Topology, FullSendsToEveryOther) {
  const Topology full = Topology::full(4).value();
  EXPECT_THAT(full.neighbours(id(2)), ElementsAre(id(0), id(1), id(3)));
  EXPECT_EQ(full.edges().size(), 12U);
}

TEST(Topology, StarGoesThroughIslandZero) {
  const Topology star = Topology::star(4).value();
  EXPECT_THAT(star.neighbours(id(0)), ElementsAre(id(1), id(2), id(3)));
  EXPECT_THAT(star.neighbours(id(3)), ElementsAre(id(0)));
}

TEST(Topology, EdgesAreSortedWhateverTheirOrder) {
  const Topology topology = Topology::from_edges(3, {{id(2), id(0)}, {id(0), id(2)}, {id(0), id(1)}}).value();
  EXPECT_THAT(topology.edges(), ElementsAre(MigrationEdge{id(0), id(1)}, MigrationEdge{id(0), id(2)},
                                            MigrationEdge{id(2), id(0)}));
  EXPECT_THAT(topology.neighbours(id(0)), ElementsAre(id(1), id(2)));
  EXPECT_THAT(topology.neighbours(id(1)), ElementsAre());
}

TEST(Topology, KnowsWhetherEveryIslandReachesEveryOther) {
  EXPECT_TRUE(Topology::ring(5).value().strongly_connected());
  EXPECT_TRUE(Topology::star(5).value().strongly_connected());
  EXPECT_FALSE(Topology::from_edges(3, {{id(0), id(1)}, {id(1), id(2)}}).value().strongly_connected());
}

TEST(Topology, RefusesWhatIsNoGraphOfIslands) {
  EXPECT_FALSE(Topology::ring(0));
  EXPECT_FALSE(Topology::full(Topology::kMaxIslands + 1));
  const auto unknown = Topology::from_edges(2, {{id(0), id(2)}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().where, "edge 0 -> 2");
  EXPECT_EQ(unknown.error().hint, "islands are numbered 0 to 1");
  EXPECT_FALSE(Topology::from_edges(2, {{id(1), id(1)}}));
  EXPECT_FALSE(Topology::from_edges(2, {{id(0), id(1)}, {id(0), id(1)}}));
}

TEST(Topology, AnUnknownIslandIsAProgrammingMistake) {
  EXPECT_THROW(Topology::ring(2).value().neighbours(id(2)), std::out_of_range);
}

}  // namespace
}  // namespace kernelsmith

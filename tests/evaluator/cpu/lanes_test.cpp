// Work in several threads: how many, and that all is done.
#include <atomic>

#include "runner/copying.hpp"
#include "testing.hpp"

namespace kernelsmith::cpu {
namespace {

TEST(Lanes, AreOneForLittleAndFewForMuch) {
  EXPECT_EQ(lanes_for(0), 1U);
  EXPECT_EQ(lanes_for(1000), 1U);
  EXPECT_GE(lanes_for(std::size_t{1} << 40), 1U);
  EXPECT_LE(lanes_for(std::size_t{1} << 40), 4U);
}

TEST(Lanes, AllDoTheirWorkBeforeItReturns) {
  std::vector<std::atomic<int>> done(4);
  in_lanes(4, [&](std::size_t lane) { ++done[lane]; });
  for (const auto& count : done) EXPECT_EQ(count, 1);
}

TEST(Lanes, PartsAreTheWholeAndBeginAtLines) {
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 1000U, 4096U})
    for (std::size_t lanes = 1; lanes <= 4; ++lanes) {
      std::vector<std::byte> bytes(size);
      std::size_t at = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto part = part_of(bytes, lane, lanes);
        ASSERT_EQ(part.data(), bytes.data() + at) << size << " bytes, lane " << lane << " of " << lanes;
        EXPECT_EQ(at % 64, 0U);
        at += part.size();
      }
      EXPECT_EQ(at, size);
    }
}

}  // namespace
}  // namespace kernelsmith::cpu

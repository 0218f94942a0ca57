#include "timing/stopping.hpp"

#include "testing.hpp"

namespace kernelsmith::timing {
namespace {

const StoppingRule kRule{.least = 4, .most_rounds = 4, .target = 0.01, .clearly_worse = 0.7};

bool enough_of(std::vector<double> ratios, double spent_us = 0, std::size_t rounds = 1) {
  return enough({ratios, rounds, spent_us}, kRule);
}

TEST(Stopping, NeedsTheLeastAndTheTarget) {
  EXPECT_FALSE(enough_of({1, 1, 1}));
  EXPECT_TRUE(enough_of({1, 1, 1, 1}));
  EXPECT_FALSE(enough_of({1, 1.1, 0.9, 1.2})) << "noisy";
}

TEST(Stopping, IsContentWithWhatIsClearlyWorse) { EXPECT_TRUE(enough_of({0.3, 0.5, 0.4, 0.6})); }

TEST(Stopping, NeverGoesBeyondTheMostRounds) {
  EXPECT_FALSE(enough_of({1, 2, 1, 2, 1, 2}, 0, 3));
  EXPECT_TRUE(enough_of({1, 2, 1, 2, 1, 2}, 0, 4));
}

TEST(Stopping, LongCallsAreMeasuredEightTimes) {
  EXPECT_FALSE(enough_of({1, 2, 1, 2, 1, 2, 1}, 4e6));
  EXPECT_TRUE(enough_of({1, 2, 1, 2, 1, 2, 1, 2}, 4e6));
  EXPECT_FALSE(enough_of({1, 2, 1, 2, 1, 2, 1, 2}, 2e6));
}

}  // namespace
}  // namespace kernelsmith::timing

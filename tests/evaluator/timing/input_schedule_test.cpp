#include "timing/input_schedule.hpp"

#include <numeric>

#include "testing.hpp"

namespace kernelsmith::timing {
namespace {

TEST(InputSchedule, GivesEverySetOnce) {
  SecretStream random({1, 2});
  InputSchedule schedule(2, 22, Reuse::never, random);
  std::vector<std::size_t> taken;
  for (const std::size_t n : {1U, 7U, 12U}) {
    const auto some = schedule.take(n);
    EXPECT_EQ(some.size(), n);
    taken.insert(taken.end(), some.begin(), some.end());
  }
  EXPECT_EQ(schedule.left(), 0U);
  std::ranges::sort(taken);
  std::vector<std::size_t> all(20);
  std::iota(all.begin(), all.end(), 2U);
  EXPECT_EQ(taken, all);
}

TEST(InputSchedule, IsSecret) {
  SecretStream random({1, 2});
  InputSchedule one(0, 64, Reuse::never, random), other(0, 64, Reuse::never, random);
  EXPECT_NE(one.take(64), other.take(64));
}

TEST(InputSchedule, TrustedKernelsGetSetsAgain) {
  SecretStream random({1, 2});
  InputSchedule schedule(0, 10, Reuse::when_used_up, random);
  for (int i = 0; i < 5; ++i) {
    EXPECT_GT(schedule.left(), 1000000U);
    auto some = schedule.take(6);
    std::ranges::sort(some);
    EXPECT_EQ(std::ranges::adjacent_find(some), some.end()) << "not twice in a batch";
  }
}

}  // namespace
}  // namespace kernelsmith::timing

// Which task of a suite gets evaluations next.

#include <gtest/gtest.h>

#include <kernelsmith/suite/allocation.hpp>

namespace kernelsmith {
namespace {

constexpr Allocation kAllocation{.total = 60, .opening = 10, .slice = 5};

/// A task that used its share up and improved once, by so much, at its fifth evaluation.
TaskStanding at_rest(std::uint64_t evaluations, double log_gain) {
  TaskStanding standing{.granted = evaluations, .used = evaluations};
  if (log_gain > 0) standing.improvements = {{ProgramId{5}, 5, log_gain}};
  return standing;
}

TEST(Allocation, SharesAreOfTheRounds) {
  EXPECT_EQ(adaptive_allocation(40, 10), (Allocation{400, 20, 10}));
  EXPECT_EQ(adaptive_allocation(1, 3), (Allocation{3, 1, 1}));
}

TEST(NextGrant, EachTaskOpensFirst) {
  std::vector<TaskStanding> tasks(3);
  EXPECT_EQ(next_grant(tasks, kAllocation), (Grant{0, 10}));
  tasks[0] = at_rest(10, 2);
  EXPECT_EQ(next_grant(tasks, kAllocation), (Grant{1, 10}));
  tasks[1].ended = true;
  EXPECT_EQ(next_grant(tasks, kAllocation), (Grant{2, 10}));
}

TEST(NextGrant, GoesToTheTaskThatIsExpectedToGainMost) {
  std::vector tasks{at_rest(10, 0.1), at_rest(10, 0.9), at_rest(10, 0.5)};
  EXPECT_EQ(next_grant(tasks, kAllocation), (Grant{1, 15}));
  tasks[1].used = 1000;  // long without a gain
  EXPECT_EQ(next_grant(tasks, kAllocation), std::nullopt) << "the total is used up";
  tasks[1] = at_rest(25, 0.9);
  EXPECT_EQ(next_grant(tasks, kAllocation), (Grant{2, 15}));
}

TEST(NextGrant, OfEqualTasksTheFirst) {
  EXPECT_EQ(next_grant(std::vector{at_rest(10, 0.5), at_rest(10, 0.5)}, kAllocation), (Grant{0, 15}));
}

TEST(NextGrant, AnInterruptedShareIsUsedUpFirst) {
  std::vector tasks{at_rest(10, 0.9), at_rest(15, 0.1), at_rest(10, 0.1)};
  tasks[1].used = 12;
  tasks[1].interrupted = true;
  EXPECT_EQ(next_grant(tasks, kAllocation), (Grant{1, 15}));
  tasks[1].ended = true;
  EXPECT_EQ(next_grant(tasks, kAllocation), (Grant{0, 15}));
}

TEST(NextGrant, AnEndedTaskGivesItsShareBack) {
  const Allocation allocation{.total = 30, .opening = 10, .slice = 5};
  std::vector tasks{at_rest(10, 0.9), at_rest(10, 0.9), at_rest(10, 0.9)};
  EXPECT_EQ(next_grant(tasks, allocation), std::nullopt);
  tasks[0].used = 3;
  tasks[0].ended = true;
  EXPECT_EQ(next_grant(tasks, allocation), (Grant{1, 15}));
  tasks[1] = at_rest(15, 0.9);
  EXPECT_EQ(next_grant(tasks, allocation), (Grant{2, 12})) << "the rest";
}

TEST(NextGrant, AFlatTaskIsPassedOver) {
  std::vector tasks{at_rest(10, 0.9), at_rest(10, 0.1)};
  tasks[0].until_flat = 100;
  tasks[0].improvements.clear();
  tasks[0].used = 10'000;
  const Allocation allocation{.total = 10'100, .opening = 10, .slice = 5};
  tasks[0].granted = 10'000;
  tasks[1].until_flat = 1;
  EXPECT_EQ(next_grant(tasks, allocation), (Grant{1, 15}));
  tasks[1].ended = true;
  EXPECT_EQ(next_grant(tasks, allocation), std::nullopt);
  tasks[0].until_flat.reset();
  EXPECT_EQ(next_grant(tasks, allocation), (Grant{0, 10'005}));
}

TEST(NextGrant, HandsOutTheTotalAndNoMore) {
  std::vector<TaskStanding> tasks(4);
  std::uint64_t grants = 0;
  while (const auto grant = next_grant(tasks, kAllocation)) {
    ASSERT_LT(++grants, 100U);
    ASSERT_GT(grant->evaluations, tasks[grant->task].granted);
    tasks[grant->task] = at_rest(grant->evaluations, 0.1 * static_cast<double>(grant->task));
  }
  std::uint64_t all = 0;
  for (const TaskStanding& task : tasks) {
    EXPECT_GE(task.granted, kAllocation.opening);
    all += task.granted;
  }
  EXPECT_EQ(all, kAllocation.total);
}

}  // namespace
}  // namespace kernelsmith

// The timing core: one of those allowed, and another one for whoever comes second.
#include "timing_core.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "cores.hpp"

namespace kernelsmith {
namespace {

TEST(TimingCore, IsOneThatThisProcessMayUse) {
  const TimingCore core = TimingCore::choose();
  ASSERT_EQ(core.number().size(), 1U);
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_TRUE(CPU_ISSET(core.number().front(), &mask));
}

TEST(TimingCore, IsAnotherOneWhereOneIsLeft) {
  if (cores_by_preference().size() < 2) GTEST_SKIP() << "one processor only";
  const TimingCore first = TimingCore::choose();
  if (first.number().front() != cores_by_preference().front())
    GTEST_SKIP() << "another kernelsmith times something on this machine";
  const TimingCore second = TimingCore::choose();
  EXPECT_NE(first.number(), second.number());
}

TEST(TimingCore, IsThereForMoreProcessesThanThereAreCores) {
  std::vector<TimingCore> cores;
  for (std::size_t i = 0; i <= cores_by_preference().size(); ++i) cores.push_back(TimingCore::choose());
  EXPECT_EQ(cores.back().number().size(), 1U);
}

TEST(TimingCore, IsFreeAgainAfterwards) {
  std::optional<TimingCore> first(TimingCore::choose());
  const auto number = first->number();
  first.reset();
  if (number.front() != cores_by_preference().front())
    GTEST_SKIP() << "another kernelsmith times something on this machine";
  EXPECT_EQ(TimingCore::choose().number(), number);
}

}  // namespace
}  // namespace kernelsmith

// The timing core: one of those allowed, and another one for whoever comes second.
#include <sched.h>

#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "clock/cores.hpp"
#include "testing.hpp"

namespace kernelsmith::cpu {
namespace {

/// Folders that no other kernelsmith locks, as in /sys.
class TimingCoreTest : public ::testing::Test {
 protected:
  TimingCoreTest() {
    for (const int core : cores_by_preference())
      std::filesystem::create_directories(folder_of_core(core, processors()) / "topology");
  }
  const std::filesystem::path& processors() const { return scratch_.path(); }
  TimingCore choose() const { return TimingCore::choose(processors()); }

 private:
  ScratchFolder scratch_ = ScratchFolder::create().value();
};

TEST_F(TimingCoreTest, IsOneThatThisProcessMayUse) {
  for (const TimingCore& core : {choose(), TimingCore::choose()}) {
    ASSERT_EQ(core.number().size(), 1U);
    cpu_set_t mask;
    CPU_ZERO(&mask);
    ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
    EXPECT_TRUE(CPU_ISSET(core.number().front(), &mask));
  }
}

TEST_F(TimingCoreTest, IsThePreferredOneAndThenAnother) {
  if (cores_by_preference().size() < 2) GTEST_SKIP() << "one processor only";
  const TimingCore first = choose(), second = choose();
  EXPECT_EQ(first.number().front(), cores_by_preference()[0]);
  EXPECT_EQ(second.number().front(), cores_by_preference()[1]);
}

TEST_F(TimingCoreTest, IsThereForMoreProcessesThanThereAreCores) {
  std::vector<TimingCore> cores;
  for (std::size_t i = 0; i <= cores_by_preference().size(); ++i) cores.push_back(choose());
  EXPECT_EQ(cores.back().number().size(), 1U);
}

TEST_F(TimingCoreTest, IsFreeAgainAfterwards) {
  std::optional<TimingCore> first(choose());
  const auto number = first->number();
  first.reset();
  EXPECT_EQ(choose().number(), number);
}

}  // namespace
}  // namespace kernelsmith::cpu

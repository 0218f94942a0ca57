// CudaHost: which plans its runner holds, what it refuses to open, and its bound of a call's time.
#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

TEST(CudaHost, TellsARunnerThePlanOfAShapeOnce) {
  GlueBench bench;
  for (int i = 0; i < 2; ++i) {
    Played timed(bench, binary("twice"), 1, kTimed), checked(bench, binary("twice"), 1, kChecked);
    EXPECT_TRUE(timed.run());
    EXPECT_TRUE(checked.run());
    EXPECT_TRUE(timed.run());
  }
  EXPECT_THAT(bench.grid.kept, ElementsAre("twice", "twice"));
}

TEST(CudaHost, ARunnerKeepsTheLastSixBinaries) {
  GlueBench bench;
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(Played(bench, bench.kernel("k" + std::to_string(i), twice), 1, kTimed).run());
    EXPECT_TRUE(Played(bench, binary("twice")).run());
  }
  EXPECT_EQ(bench.grid.forgotten, 3);
  EXPECT_EQ(std::ranges::count(bench.grid.kept, "twice"), 1);
}

TEST(CudaHost, APlanThatIsRefusedIsToldAtOpening) {
  GlueBench bench;
  ASSERT_TRUE(bench.create());
  bench.planner.refused.emplace("twice", reject(Stage::plan, RejectionCode::plan_failed, "cublasCreate"));
  EXPECT_EQ(rejection_of(bench.host->open(binary("twice"), Trust::candidate, 0, {})).code,
            RejectionCode::plan_failed);
}

TEST(CudaHost, ABinaryOfAnotherBackendIsRefused) {
  GlueBench bench;
  ASSERT_TRUE(bench.create());
  EXPECT_FALSE(bench.host->open(fake::kernel(), Trust::candidate, 0, {}));
}

TEST(CudaHost, BoundsColdCallsByTheInputsThatTheyRead) {
  GlueBench bench;
  ASSERT_TRUE(bench.create());
  const InputSet set = bench.set(kTimed, 1);
  EXPECT_DOUBLE_EQ(bench.host->least_us(kTimed, set).value(), 256 / 1e6 * 0.75);
  Task warm = doubling_task();
  warm.cache = CacheState::warm;
  GlueBench other(warm);
  ASSERT_TRUE(other.create());
  EXPECT_EQ(other.host->least_us(kTimed, set).value(), 0);
}

TEST(CudaHost, MemoryGoesWithIt) {
  GlueBench bench;
  { EXPECT_TRUE(Played(bench, binary("twice")).run()); }
  bench.host.reset();
  EXPECT_EQ(bench.device->in_use(), 0);
}

}  // namespace
}  // namespace kernelsmith::cuda

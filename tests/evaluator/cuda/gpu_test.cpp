#include "gpu.hpp"

#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

struct GpuBench {
  FakeGrid grid;
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();

  Result<std::shared_ptr<Gpu>> create() { return Gpu::create(device, runner_start(grid)); }
};

TEST(Gpu, KeepsARunnerAsLongAsItLives) {
  GpuBench bench;
  const auto gpu = bench.create().value();
  Runner* const first = gpu->runner().value();
  EXPECT_EQ(gpu->runner().value(), first);
  EXPECT_EQ(gpu->epoch(), 1);
}

TEST(Gpu, ARunnerThatDoesNotStartIsAnErrorThatCanPass) {
  GpuBench bench;
  bench.grid.no_start = fail(ErrorCode::tool_failed, "the GPU fell off the bus");
  EXPECT_FALSE(bench.create());
  bench.grid.no_start.reset();
  EXPECT_TRUE(bench.create());
}

TEST(Gpu, ASpareThatEndedWhileItWaitedIsReplacedToo) {
  GpuBench bench;
  bench.grid.born_dead = 1;
  const auto gpu = bench.create().value();
  EXPECT_TRUE(gpu->runner().value()->alive());
}

TEST(Gpu, NothingStartsWhileItRests) {
  GpuBench bench;
  const auto gpu = bench.create().value();
  gpu->rest();
  const std::lock_guard lock(bench.grid.mutex);
  EXPECT_EQ(bench.grid.started, 2) << "a runner and its spare";
}

TEST(Gpu, ADeviceWhereEveryRunnerEndsIsAnError) {
  GpuBench bench;
  bench.grid.born_dead = 1000;
  EXPECT_FALSE(bench.create());
}

}  // namespace
}  // namespace kernelsmith::cuda

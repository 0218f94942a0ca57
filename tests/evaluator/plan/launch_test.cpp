// Launches that a plan may hold, and what is said of others.
#include "calls.hpp"

namespace kernelsmith::plan {
namespace {

/// What check() says of a launch of scale() that `change` changed.
template <class Change>
std::string said(Change change) {
  Launch launch = scale_launch();
  change(launch);
  return said_of(call_of(launch));
}

TEST(PlanLaunch, IsRight) {
  EXPECT_EQ(said([](Launch&) {}), "right");
  EXPECT_EQ(said_of(call_of(load_launch())), "right");
}

std::string said_of_grid(Dim3 grid) {
  return said([&](Launch& launch) { launch.grid = grid; });
}

std::string said_of_block(Dim3 block) {
  return said([&](Launch& launch) { launch.block = block; });
}

TEST(PlanLaunch, IsToldByItsPlaceAndReadableName) {
  EXPECT_EQ(said_of_grid({1, 65536, 1}),
            "operation 1, launch of scale(float*, float const*, int): a grid of 1 x 65536 x 1; CUDA allows "
            "2147483647 x 65535 x 65535");
}

TEST(PlanLaunch, NamesAKernelThatExists) {
  EXPECT_EQ(said([](Launch& launch) { launch.kernel = 2; }),
            "operation 1, launch: kernel number 2 does not exist");
  const Status status = check(call_of(scale_launch()), kernels(), 0, buffers(), kWorkspace);
  EXPECT_THAT(status.error().message, HasSubstr("cubin number 0 does not exist"));
}

TEST(PlanLaunch, HasAGridWithinCudasLimits) {
  EXPECT_EQ(said_of_grid({2147483647, 65535, 65535}), "right");
  EXPECT_THAT(said_of_grid({2147483648, 1, 1}), HasSubstr("a grid of 2147483648 x 1 x 1"));
  EXPECT_THAT(said_of_grid({1, 1, 65536}), HasSubstr("a grid of 1 x 1 x 65536"));
  EXPECT_THAT(said_of_grid({0, 1, 1}), HasSubstr("a grid of 0 x 1 x 1: a dimension is 0"));
}

TEST(PlanLaunch, HasABlockWithinCudasLimits) {
  EXPECT_EQ(said_of_block({16, 1, 64}), "right");
  EXPECT_EQ(said_of_block({1, 1024, 1}), "right");
  EXPECT_THAT(said_of_block({1025, 1, 1}), HasSubstr("a block of 1025 x 1 x 1"));
  EXPECT_THAT(said_of_block({1, 1025, 1}), HasSubstr("a block of 1 x 1025 x 1"));
  EXPECT_THAT(said_of_block({1, 1, 65}), HasSubstr("a block of 1 x 1 x 65"));
  EXPECT_THAT(said_of_block({32, 33, 1}), HasSubstr("a block of 1056 threads"));
  EXPECT_THAT(said_of_block({32, 0, 1}), HasSubstr("a dimension is 0"));
}

TEST(PlanLaunch, HasNoMoreRegistersThanABlock) {
  auto list = kernels();
  list[0].registers = 65;
  Launch launch = scale_launch();
  launch.block = {1008, 1, 1};
  const Status status = check(call_of(launch), list, 1, buffers(), kWorkspace);
  EXPECT_EQ(status.error().message, "1008 threads of a block need 65 registers each; a block has 65536");
  EXPECT_THAT(status.error().hint, HasSubstr("__launch_bounds__(1008)"));
  list[0].registers = 64;
  EXPECT_TRUE(check(call_of(launch), list, 1, buffers(), kWorkspace));
}

TEST(PlanLaunch, HasAClusterThatDividesTheGrid) {
  const auto with = [](Dim3 cluster, bool nonportable = false) {
    return said([&](Launch& launch) {
      launch.grid = {32, 2, 1};
      launch.cluster = cluster;
      launch.nonportable_cluster = nonportable;
    });
  };
  EXPECT_EQ(with({4, 2, 1}), "right");
  EXPECT_EQ(with({8, 2, 1}, true), "right");
  EXPECT_THAT(with({3, 1, 1}), HasSubstr("a cluster of 3 x 1 x 1 does not divide the grid of 32 x 2 x 1"));
  EXPECT_THAT(with({0, 1, 1}), HasSubstr("a cluster of 0 x 1 x 1: a dimension is 0"));
  EXPECT_THAT(with({16, 2, 1}, true), HasSubstr("has more than 16 blocks"));
  EXPECT_THAT(with({16, 1, 1}), HasSubstr("has more than 8 blocks"));
}

TEST(PlanLaunch, HasAClusterWhoseProductCannotOverflow) {
  EXPECT_THAT(said([](Launch& launch) {
                launch.grid = {1U << 30, 1U << 15, 1U << 15};
                launch.cluster = {{1U << 30, 1U << 15, 1U << 15}};
                launch.nonportable_cluster = true;
              }),
              HasSubstr("has more than 16 blocks"));
}

TEST(PlanLaunch, HasSharedMemoryThatABlockCanHave) {
  const auto with = [](std::uint32_t dynamic, std::uint32_t most) {
    return said([&](Launch& launch) {
      launch.dynamic_shared = dynamic;
      launch.max_dynamic_shared = most;
    });
  };
  EXPECT_EQ(with(47 << 10, 0), "right");
  EXPECT_EQ(with(226 << 10, 226 << 10), "right");
  EXPECT_THAT(with((226 << 10) + 1, (226 << 10) + 1), HasSubstr("a block has at most 232448"));
  EXPECT_THAT(with(0, 227 << 10), HasSubstr("a block has at most 232448"));
  EXPECT_THAT(with(0xffffffff, 0xffffffff), HasSubstr("a block has at most 232448"));
  EXPECT_THAT(with(2048, 1024), HasSubstr("was set to 1024"));
  EXPECT_THAT(with((47 << 10) + 1, 0), HasSubstr("above 49152 a kernel has to ask for it"));
}

TEST(PlanLaunch, StaticSharedMemoryCannotBeAskedFor) {
  std::vector<Kernel> large = kernels();
  large.front().static_shared = 100 << 10;
  const Status status = check(call_of(scale_launch()), large, 1, buffers(), kWorkspace);
  EXPECT_THAT(status.error().message, HasSubstr("102400 bytes of static shared memory; above 49152"));
  EXPECT_THAT(status.error().hint, HasSubstr("extern __shared__"));
}

TEST(PlanLaunch, HasACarveOutInPerCent) {
  EXPECT_EQ(said([](Launch& launch) { launch.shared_carveout = 100; }), "right");
  EXPECT_THAT(said([](Launch& launch) { launch.shared_carveout = 101; }),
              HasSubstr("a shared memory carve-out of 101"));
  EXPECT_THAT(said([](Launch& launch) { launch.shared_carveout = -2; }), HasSubstr("carve-out of -2"));
}

TEST(PlanLaunch, GivesAllParameters) {
  EXPECT_THAT(said([](Launch& launch) { launch.parameters.pop_back(); }),
              HasSubstr("the launch gives 19 bytes of parameters, the kernel's last ends at 20"));
  EXPECT_THAT(said([](Launch& launch) { launch.parameters.resize(kMaxParameterBytes + 1); }),
              HasSubstr("32765 bytes of parameters; CUDA allows 32764"));
  auto list = kernels();
  list[0].parameters.push_back({0xfffffffc, 8});
  EXPECT_THAT(check(call_of(scale_launch()), list, 1, buffers(), kWorkspace).error().message,
              HasSubstr("the kernel's last ends at 4294967300"));
}

TEST(PlanLaunch, UsesTensorMapsThatExist) {
  Launch launch = load_launch();
  launch.tensor_maps[0].map = 1;
  EXPECT_THAT(said_of(call_of(launch)), HasSubstr("a tensor map number 1 that the call does not have"));
  launch.tensor_maps[0] = {9, 0};
  EXPECT_THAT(said_of(call_of(launch)), HasSubstr("a tensor map at byte 9 of 136 bytes"));
  launch.tensor_maps[0] = {0xffffffff, 0};
  EXPECT_THAT(said_of(call_of(launch)), HasSubstr("a tensor map at byte 4294967295"));
  launch.tensor_maps.assign(kMaxTensorMaps + 1, {0, 0});
  EXPECT_THAT(said_of(call_of(launch)), HasSubstr("513 tensor maps in one launch"));
}

}  // namespace
}  // namespace kernelsmith::plan

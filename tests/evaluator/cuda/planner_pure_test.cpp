// The planner's pure parts: messages, occupancy, workspaces.
#include "planner/occupancy.hpp"
#include "planner/protocol.hpp"
#include "planner/region.hpp"
#include "testing.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda::planner {
namespace {

plan::Kernel kernel(std::uint32_t registers, std::uint32_t shared) {
  plan::Kernel result;
  result.registers = registers;
  result.static_shared = shared;
  return result;
}

TEST(PlannerProtocol, MessagesComeBackAsTheyWere) {
  const StartMessage start{h100(),
                           {1, 2, 3},
                           {{0, "kernel", {{0, 8}, {8, 4}}, 32, 16, 8}, {0, "other", {}, 1, 0, 0}},
                           {"weights", ""}};
  EXPECT_EQ(plan::decoded<StartMessage>(plan::encoded(start)), start);
  const CallRequest request{{{1, 2, true}, {3, 4, false}}, {-1, 1 << 20}};
  EXPECT_EQ(plan::decoded<CallRequest>(plan::encoded(request)), request);
}

TEST(PlannerProtocol, TruncatedMessagesAreNone) {
  const auto whole =
      plan::encoded(StartMessage{h100(), {1, 2, 3}, {{0, "kernel", {{0, 8}}, 32, 16, 8}}, {"weights"}});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(plan::decoded<StartMessage>({whole.data(), bytes})) << bytes;
  EXPECT_FALSE(plan::decoded<CallRequest>(whole));
}

// Figures of CUDA's own cuda_occupancy.h for an H100.
TEST(PlannerOccupancy, FollowsCudasRules) {
  const DeviceFacts device = h100();
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(32, 0), 256, 0, -1), 8U);   // threads
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(32, 0), 32, 0, -1), 32U);   // blocks
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(168, 0), 384, 0, -1), 1U);  // registers
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(255, 0), 256, 0, -1), 1U);
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(255, 0), 288, 0, -1), 0U);
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(40, 0), 128, 100 << 10, -1), 2U);  // shared memory
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(40, 0), 128, 227 << 10, -1), 1U);
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(40, 1), 128, 227 << 10, -1), 0U);
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(40, 16 << 10), 128, 0, 25), 3U);  // 64 of 228 KiB
  EXPECT_EQ(blocks_per_multiprocessor(device, kernel(40, 0), 128, 100 << 10, 0),
            1U);  // more than was asked for
}

TEST(PlannerOccupancy, RegistersBoundTheBlock) {
  EXPECT_EQ(max_threads(h100(), kernel(32, 0)), 1024U);
  EXPECT_EQ(max_threads(h100(), kernel(128, 0)), 512U);
  EXPECT_EQ(max_threads(h100(), kernel(255, 0)), 256U);
}

TEST(PlannerOccupancy, TellsTheSharedMemoryThatIsLeft) {
  EXPECT_EQ(dynamic_shared_for(h100(), kernel(32, 0), 1), 227U << 10);
  EXPECT_EQ(dynamic_shared_for(h100(), kernel(32, 1024), 2), (114U << 10) - 2048);
}

TEST(PlannerOccupancy, ClustersStayWithinTheirGpc) {
  EXPECT_EQ(active_clusters(h100(), 1, 2), 66U);
  EXPECT_EQ(active_clusters(h100(), 1, 4), 32U);
  EXPECT_EQ(active_clusters(h100(), 1, 16), 8U);
  EXPECT_EQ(active_clusters(h100(), 0, 2), 0U);
}

TEST(PlannerRegion, GivesAlignedPlacesAndReusesThemInTheNextCall) {
  Region region(1 << 20, 4096);
  EXPECT_THAT(region.allocate(1), Optional(1U << 20));
  EXPECT_THAT(region.allocate(300), Optional((1U << 20) + 256));
  EXPECT_EQ(region.in_use(), 768U);
  EXPECT_TRUE(region.release(1 << 20));
  EXPECT_FALSE(region.release(1 << 20));
  EXPECT_FALSE(region.release(5));
  EXPECT_THAT(region.allocate(256), Optional((1U << 20) + 768));  // not where this call's work may still be
  region.begin_call();
  EXPECT_THAT(region.allocate(256), Optional(1U << 20));
  EXPECT_EQ(region.allocate(4096), std::nullopt);
  EXPECT_EQ(region.allocate(~std::uint64_t{0}), std::nullopt);
}

}  // namespace
}  // namespace kernelsmith::cuda::planner

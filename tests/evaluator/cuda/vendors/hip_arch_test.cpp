// Which architecture a device of AMD's has: the kernel driver's words, one folder for each processor and GPU.
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "testing.hpp"
#include "vendors/hip/hip.hpp"

namespace kernelsmith::cuda {
namespace {

TEST(HipArch, IsThatOfTheDeviceAtTheAddress) {
  const auto nodes = ScratchFolder::create().value();
  ASSERT_TRUE(
      nodes.write("0/properties", "cpu_cores_count 16\ngfx_target_version 0\nlocation_id 0\ndomain 0\n"));
  ASSERT_TRUE(nodes.write("1/properties", "gfx_target_version 100306\nlocation_id 2816\ndomain 0\n"));
  ASSERT_TRUE(nodes.write("2/properties", "gfx_target_version 90010\nlocation_id 25856\ndomain 0\n"));
  ASSERT_TRUE(nodes.write("3/properties", "gfx_target_version 90402\nlocation_id 25856\ndomain 1\n"));
  EXPECT_EQ(gfx_of(nodes.path(), "0000:65:00.0"), "gfx90a");
  EXPECT_EQ(gfx_of(nodes.path(), "0001:65:00.0"), "gfx942");
  EXPECT_EQ(gfx_of(nodes.path(), "0000:0b:00.0"), "gfx1036");
  EXPECT_EQ(gfx_of(nodes.path(), "0000:0c:00.0"), "");
  EXPECT_EQ(gfx_of(nodes.path(), "no address"), "");
  EXPECT_EQ(gfx_of(nodes.path() / "none", "0000:65:00.0"), "");
}

}  // namespace
}  // namespace kernelsmith::cuda

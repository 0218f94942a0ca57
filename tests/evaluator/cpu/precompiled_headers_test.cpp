// When sets of headers are precompiled.
#include "toolchain/precompiled_headers.hpp"

#include "testing.hpp"

namespace kernelsmith::cpu {
namespace {

TEST(PrecompiledHeaders, AreBuiltOnceForTheSecondSourceThatHasThem) {
  int built = 0;
  const PrecompiledHeaders headers([&](const ScratchFolder&, const std::string&, const std::string&) {
    ++built;
    return true;
  });
  EXPECT_FALSE(headers.find({}));
  EXPECT_FALSE(headers.find({"cmath"}));
  EXPECT_FALSE(headers.find({"vector"}));
  EXPECT_EQ(built, 0);
  EXPECT_TRUE(headers.find({"cmath"}));
  EXPECT_EQ(built, 1);
  EXPECT_TRUE(headers.find({"cmath"}));
  EXPECT_EQ(built, 1);
}

TEST(PrecompiledHeaders, ThatCannotBeBuiltAreNone) {
  const PrecompiledHeaders headers(
      [](const ScratchFolder&, const std::string&, const std::string&) { return false; });
  EXPECT_FALSE(headers.find({"cmath"}));
  EXPECT_FALSE(headers.find({"cmath"}));
}

}  // namespace
}  // namespace kernelsmith::cpu

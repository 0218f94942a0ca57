#include <array>
#include <string>

#include <gtest/gtest.h>

#include <kernelsmith/core/nearest_name.hpp>

namespace kernelsmith {
namespace {

constexpr std::array<std::string_view, 4> kKeys{"tolerance", "timed", "threads", "cache"};

TEST(NearestName, FindsTheMisspeltOne) {
  EXPECT_EQ(nearest_name("tolerence", kKeys), "tolerance");
  EXPECT_EQ(nearest_name("thread", kKeys), "threads");
  EXPECT_EQ(nearest_name("cahce", kKeys), "cache") << "swapped neighbours are one mistake";
}

TEST(NearestName, GivesNothingWhereNothingIsNear) {
  EXPECT_FALSE(nearest_name("description", kKeys));
  EXPECT_FALSE(nearest_name("x", {}));
  EXPECT_FALSE(nearest_name(std::string(100000, 'x'), kKeys));
  const std::string endless = "cache" + std::string(400, '.');
  EXPECT_FALSE(nearest_name("cache", std::array<std::string_view, 1>{endless}));
}

TEST(NameHint, ListsTheNamesWhereNoneIsNear) {
  EXPECT_EQ(name_hint("timd", kKeys), "did you mean timed?");
  EXPECT_EQ(name_hint("description", kKeys), "known names: tolerance, timed, threads, cache");
}

}  // namespace
}  // namespace kernelsmith

#include <gtest/gtest.h>

#include <kernelsmith/code/complexity.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

TEST(StaticFeatures, CountCpp) {
  const auto f = static_features(cpp(R"(// for while if
int f(int n) {
  do { n = g(n ? 1 : 2); } while (n && h());
  for (;;) if (n) break;  // loop
  constexpr int kTile = 8;  // @tune 8 16
}
)"));
  EXPECT_EQ(f.at("lines"), 5);
  EXPECT_EQ(f.at("loops"), 2);
  EXPECT_EQ(f.at("branches"), 3);
  EXPECT_EQ(f.at("complexity"), 6);
  EXPECT_EQ(f.at("calls"), 3);
  EXPECT_EQ(f.at("max_nesting"), 3);
  EXPECT_EQ(f.at("knobs"), 1);
}

TEST(StaticFeatures, CountPython) {
  const auto f = static_features(
      python("def f(a):\n    for x in a:\n        if x and a:\n            g(x)\n    return a\n"));
  EXPECT_EQ(f.at("loops"), 1);
  EXPECT_EQ(f.at("branches"), 2);
  EXPECT_EQ(f.at("max_nesting"), 3);
  EXPECT_EQ(f.at("calls"), 2);
}

TEST(StaticFeatures, CommentsAndSpacingChangeOnlyBytesAndLines) {
  auto a = static_features(cpp("int a=f(1);"));
  auto b = static_features(cpp("/* if */ int a = f( 1 ); // for\n"));
  a.erase("bytes");
  b.erase("bytes");
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace kernelsmith

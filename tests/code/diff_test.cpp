#include <gtest/gtest.h>

#include <kernelsmith/code/diff.hpp>

#include "sources.hpp"

namespace kernelsmith {
namespace {

TEST(UnifiedDiff, IsEmptyForEqualSources) { EXPECT_EQ(unified_diff(cpp("a\n"), cpp("a\n")), ""); }

TEST(UnifiedDiff, ShowsHunksWithContext) {
  EXPECT_EQ(unified_diff(cpp("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), cpp("1\n2\n3\n4\nfive\n6\n7\n8\n9\n")),
            "--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, ShowsAMissingLastNewline) {
  EXPECT_EQ(unified_diff(cpp("a\n"), cpp("a")),
            "--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, ShowsNewFiles) {
  const Source both = Source::create({{"kernel.cpp", "a\n"}, {"b.hpp", "x\n"}}).value();
  EXPECT_EQ(unified_diff(cpp("a\n"), both), "--- /dev/null\n+++ b/b.hpp\n@@ -0,0 +1,1 @@\n+x\n");
}

}  // namespace
}  // namespace kernelsmith

#include <gtest/gtest.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::invalid_argument, "n is odd", "half", "pass an even number");
  return n / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_EQ(half(3).error().code, ErrorCode::invalid_argument);
}

TEST(Result, ValueOfAnErrorThrowsItsDescription) {
  try {
    half(3).value();
    FAIL();
  } catch (const ErrorException& e) {
    EXPECT_STREQ(e.what(), "half: n is odd (invalid_argument)\nhint: pass an even number");
  }
}

TEST(Report, GivesTheExitStatus) {
  std::FILE* sink = std::tmpfile();
  EXPECT_EQ(report(sink, fail(ErrorCode::bad_input, "x")), 2);
  EXPECT_EQ(report(sink, fail(ErrorCode::tool_missing, "x")), 3);
  EXPECT_EQ(report(sink, fail(ErrorCode::cancelled, "x")), 130);
  std::fclose(sink);
}

}  // namespace
}  // namespace kernelsmith

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/core/brief.hpp>
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

TEST(Brief, OfManyLinesItHasTheFirstAndTheError) {
  const Error compiler =
      fail(ErrorCode::refused,
           "it does not compile: a.cpp: In function 'void f()':\na.cpp:3:5: error: expected ';'\n"
           "    3 | int x\n      |     ^\n",
           "files: reference", "mend it");
  EXPECT_EQ(describe_briefly(compiler),
            "files: reference: it does not compile: a.cpp: In function 'void f()': (refused)\n"
            "a.cpp:3:5: error: expected ';'\n"
            "(2 more lines: in the JSON of evaluate, doctor, show and export)\nhint: mend it");
  const Error framework =
      fail(ErrorCode::refused, "RuntimeError: CUDA error: x\nIt might be\nFor debugging\nCompile");
  EXPECT_EQ(describe_briefly(framework),
            "RuntimeError: CUDA error: x (refused)\n"
            "(3 more lines: in the JSON of evaluate, doctor, show and export)");
}

TEST(Brief, OfATracebackItHasTheLineOfTheUsersOwnCode) {
  const std::string frame = "  File \"/home/a/evaluate.py\", line 7, in score\n    return table[key]\n";
  const std::string library =
      "  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n    raise\n";
  const std::string head = "it raised: Traceback (most recent call last):\n";
  const auto brief = [&](const std::string& rest) {
    return describe_briefly(fail(ErrorCode::tool_failed, head + rest));
  };
  EXPECT_EQ(brief(frame + "    ~~~~~^^^^^\nKeyError: 'b'"),
            "it raised: Traceback (most recent call last): (tool_failed)\n" + frame +
                "KeyError: 'b'\n(1 more line: in the JSON of evaluate, doctor, show and export)");
  EXPECT_THAT(brief(frame + library + "Stop\nmore"), testing::HasSubstr(frame + "Stop\n"));
  EXPECT_THAT(brief(library + "Stop"), testing::HasSubstr(library + "Stop"));
  EXPECT_THAT(brief(library + "TypeError: x\n\nDuring handling:\n\n" + head + frame + "Stop"),
              testing::HasSubstr(frame + "Stop"));
}

TEST(Brief, AFirstLineThatPromisesMoreIsFollowedByTheLast) {
  EXPECT_THAT(describe_briefly(
                  fail(ErrorCode::refused, "CompilationError: at 4:4:\n  a\n  ^\nAttributeError('stor')")),
              testing::HasSubstr("\nAttributeError('stor')\n(2 more lines"));
}

TEST(Brief, AFewLinesStandAsTheyAre) {
  const Error few = fail(ErrorCode::io, "one\ntwo\nthree", "here", "help");
  EXPECT_EQ(describe_briefly(few), describe(few));
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

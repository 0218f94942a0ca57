// What is made of the last line, the exit and the time of the program that runs a candidate in plain PyTorch.
#include "plain_check.hpp"

#include "testing.hpp"

namespace kernelsmith::torch {
namespace {

SandboxResult printed(std::string out) {
  SandboxResult result;
  result.out = std::move(out);
  return result;
}

TEST(PlainCheck, TheVerdictStandsBehindWhatTheCandidatePrints) {
  const auto verdict = read_plain_verdict(
      printed("building\n{\"stage\": \"done\"} said the candidate\n"
              R"({"stage": "done", "problem": "", "build_s": 31.5, "reference_us": 300, "candidate_us": 200,)"
              R"( "device": "H100", "torch": "2.11.0"})"
              "\n"));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_TRUE(verdict->passed());
  EXPECT_DOUBLE_EQ(verdict->speedup(), 1.5);
  EXPECT_DOUBLE_EQ(verdict->build_s, 31.5);
  EXPECT_EQ(verdict->environment, "PyTorch 2.11.0, H100");
}

TEST(PlainCheck, WhatFailsIsNamed) {
  const auto verdict = read_plain_verdict(
      printed(R"({"stage": "compare", "problem": "new.py:7: output 0 has dtype float64"})"));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_FALSE(verdict->passed());
  EXPECT_EQ(verdict->stage, "compare");
  EXPECT_THAT(verdict->problem, HasSubstr("float64"));
  EXPECT_EQ(verdict->speedup(), 0);
}

TEST(PlainCheck, ASignalIsTheCandidates) {
  SandboxResult result = printed("");
  result.kind = ExitKind::signalled;
  result.code = 11;
  result.err = "first\nan illegal memory access\n";
  const auto verdict = read_plain_verdict(result);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->stage, "run");
  EXPECT_THAT(verdict->problem, AllOf(HasSubstr("signal 11"), HasSubstr("an illegal memory access")));
}

TEST(PlainCheck, ReferencesMachinesAndTimeGiveNoVerdict) {
  const auto code = [](const SandboxResult& result) {
    const auto verdict = read_plain_verdict(result);
    return verdict ? ErrorCode::internal : verdict.error().code;
  };
  EXPECT_EQ(code(printed(R"({"failed": "reference.py:3: IndexError", "code": "reference_failed"})")),
            ErrorCode::refused);
  EXPECT_EQ(code(printed(R"({"failed": "no room", "code": "out_of_memory"})")), ErrorCode::busy);
  EXPECT_EQ(code(printed(R"({"failed": "no GPU", "code": "no_gpu"})")), ErrorCode::unsupported);
  EXPECT_EQ(code(printed("no JSON")), ErrorCode::bad_reply);
  EXPECT_EQ(code(printed("")), ErrorCode::bad_reply);
  SandboxResult failed = printed("");
  failed.code = 1;
  failed.err = "ModuleNotFoundError: No module named 'torch'\n";
  EXPECT_EQ(code(failed), ErrorCode::tool_failed);
  failed.kind = ExitKind::wall_limit;
  EXPECT_EQ(code(failed), ErrorCode::timeout);
}

}  // namespace
}  // namespace kernelsmith::torch

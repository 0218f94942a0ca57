// Host code that does what none should: it costs its planner, and nothing else.
#include "planner_fixture.hpp"

namespace kernelsmith::cuda {
namespace {

TEST_F(PlannerTest, HostCodeThatExitsIsTold) {
  const std::string told = refused(kExit);
  EXPECT_THAT(told, StartsWith("plan exited: the process ended by itself (exit status 0)"));
  EXPECT_THAT(told, AllOf(HasSubstr("leaving\\x1b[31m early"), Not(HasSubstr("\x1b"))));
}

TEST_F(PlannerTest, HostCodeThatCrashesIsTold) {
  EXPECT_THAT(refused(kCrash), StartsWith("plan crashed: signal 6"));
  EXPECT_THAT(refused(kReadTensor),
              AllOf(StartsWith("plan crashed: signal 11"), HasSubstr("does it read a tensor on the host?")));
}

TEST_F(PlannerTest, WhatWasPrintedBeforeACrashIsTold) {
  EXPECT_THAT(refused(kPrintAndCrash),
              AllOf(StartsWith("plan crashed: signal 6"), HasSubstr("stdout: sizes: 1024")));
}

TEST_F(PlannerTest, HostCodeThatNeverEndsIsKilled) {
  const auto planner = start();
  const std::string told = words(ask(*planner, kLoop, 1024, 0, 0.2).error());
  EXPECT_THAT(told, StartsWith("plan timed_out: the host code took longer than 0.2 s"));
  EXPECT_EQ(words(ask(*planner, kNothing).error()), told);
}

TEST_F(PlannerTest, HostCodeSeesNoFilesOfTheHost) {
  EXPECT_EQ(refused(kReadFile), "nothing was refused");  // it aborts if it can read /etc/passwd
}

TEST_F(PlannerTest, HostCodeThatPrintsMegabytesIsKilled) {
  EXPECT_THAT(refused(kPrintMegabytes), StartsWith("plan sandbox_violation: more than 1 MB was printed"));
}

TEST_F(PlannerTest, HostCodeThatThrowsIsTold) {
  EXPECT_THAT(refused(kThrow), StartsWith("plan plan_failed: the entry: threw an exception: no idea"));
}

TEST_F(PlannerTest, NonsenseOnTheChannelIsNoAnswer) {
  EXPECT_THAT(refused(kNonsense), StartsWith("integrity protocol_forged: "));
}

TEST_F(PlannerTest, AStoppedStartIsCancelled) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(
      error_of(Planner::start(planner_settings(), candidate_library(), kernels_, {}, source.get_token()))
          .code,
      ErrorCode::cancelled);
}

}  // namespace
}  // namespace kernelsmith::cuda

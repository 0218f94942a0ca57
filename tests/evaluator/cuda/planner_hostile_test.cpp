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
  ASSERT_TRUE(planner);
  const auto call = ask(*planner, kLoop, 1024, 0, 0.2);
  ASSERT_FALSE(call);
  EXPECT_THAT(words(call.error()), StartsWith("plan timed_out: the host code took longer than 0.2 s"));
  const auto next = ask(*planner, kNothing);
  ASSERT_FALSE(next);
  EXPECT_EQ(words(next.error()), words(call.error()));
}

TEST_F(PlannerTest, HostCodeMayNotStartProcessesOrThreads) {
  EXPECT_THAT(refused(kFork), StartsWith("plan sandbox_violation: a forbidden system call"));
  EXPECT_THAT(refused(kThread), StartsWith("plan sandbox_violation: a forbidden system call"));
}

TEST_F(PlannerTest, HostCodeSeesNoFilesOfTheHost) {
  EXPECT_EQ(refused(kReadFile), "nothing was refused");  // it aborts if it can read /etc/passwd
}

TEST_F(PlannerTest, HostCodeThatPrintsMegabytesIsKilled) {
  EXPECT_THAT(refused(kPrintMegabytes), StartsWith("plan sandbox_violation: more than 1 MB was printed"));
}

TEST_F(PlannerTest, HostCodeThatWritesOrTakesTooMuchHarmsOnlyItself) {
  EXPECT_NE(refused(kWriteFile), "");
  EXPECT_THAT(refused(kAllocateAll), ::testing::AnyOf(StartsWith("plan crashed"), StartsWith("plan out_of")));
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
  const auto planner =
      Planner::start(planner_settings(), candidate_library(), kernels_, {}, source.get_token());
  ASSERT_FALSE(planner);
  ASSERT_TRUE(std::holds_alternative<Error>(planner.error())) << words(planner.error());
  EXPECT_EQ(std::get<Error>(planner.error()).code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace kernelsmith::cuda

// What plans can do wrong, and what becomes of the runner then.
#include <chrono>
#include <stop_token>
#include <thread>

#include "runner/child_process.hpp"
#include "runner/protocol.hpp"
#include "runner_bench.hpp"

namespace kernelsmith::cuda {
namespace {

using testing::Ge;
using testing::Le;

using RunnerFaultsTest = RunnerTest;

TEST_F(RunnerFaultsTest, APlanThatReachesOutsideIsRefusedWhenItIsKept) {
  const auto out = piece();
  auto plan = empty_plan();
  plan.calls.push_back(call_of({{0, plan::Memset{out + kPiece, 0, 4, 1}}}));
  EXPECT_EQ(runner_->keep(plan).error().code, ErrorCode::bad_input);
  EXPECT_TRUE(runner_->alive());
}

TEST_F(RunnerFaultsTest, ALaunchThatCudaRefusesIsToldByName) {
  const auto out = piece();
  auto plan = empty_plan();
  auto too_large = launch(plan, "count_up", out);
  too_large.cooperative = true;
  too_large.grid = {1'000'000, 1, 1};
  plan.calls.push_back(call_of({{0, too_large}}));
  EXPECT_THAT(failure_of(plan), AllOf(HasSubstr("load_failed"), HasSubstr("count_up with grid 1000000x1x1"),
                                      HasSubstr("cooperative")));
  EXPECT_TRUE(runner_->alive());
  plan.calls = {call_of({{0, launch(plan, "count_up", out)}})};
  expect_replays(plan);
}

TEST_F(RunnerFaultsTest, AnAttributeThatCudaRefusesIsToldByName) {
  if (device_->facts().arch < 90) GTEST_SKIP() << "the kernel has no static shared memory there";
  const auto out = piece();
  auto plan = empty_plan();
  auto fetch = launch(plan, "fetch_box", std::array<std::byte, 128>{}, out, 0, 0);
  fetch.max_dynamic_shared = 227 << 10;  // beside 4 KiB of static, of which this plan says nothing
  plan.calls.push_back(call_of({{0, fetch}}));
  EXPECT_THAT(failure_of(plan), AllOf(HasSubstr("load_failed"), HasSubstr("fetch_box"),
                                      HasSubstr("232448 bytes of dynamic shared memory")));
  EXPECT_TRUE(runner_->alive());
}

TEST_F(RunnerFaultsTest, WorkspaceThatTheGpuHasNotLeftIsNoFaultOfTheCandidate) {
  if (kFakeDriver == nullptr) GTEST_SKIP() << "the fake GPU has 1 GiB; a real one has 4 GiB to spare";
  auto plan = empty_plan();
  auto call = call_of({});
  call.kept_workspace = std::uint64_t{2} << 30;
  plan.calls.push_back(call);
  EXPECT_THAT(failure_of(plan), AllOf(HasSubstr("busy"), HasSubstr("2048 MiB of workspace")));
  EXPECT_TRUE(runner_->alive());
}

TEST_F(RunnerFaultsTest, AnIllegalAddressCostsTheRunnerAndNotTheNext) {
  const auto out = piece();
  auto plan = empty_plan();
  plan.calls.push_back(call_of({{0, launch(plan, "trespass", out, std::uint64_t{kPiece / 4})}}));
  EXPECT_THAT(failure_of(plan), AllOf(HasSubstr("crashed"), HasSubstr("touched memory outside its buffers"),
                                      HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS")));
  EXPECT_FALSE(runner_->alive());
  memory_.clear();
  start();
  const auto again = piece();
  plan = empty_plan();
  plan.calls.push_back(call_of({{0, launch(plan, "count_up", again)}}));
  expect_replays(plan);
  EXPECT_EQ(read<std::uint32_t>(0, 1).front(), 1U);
}

TEST_F(RunnerFaultsTest, AKernelThatNeverEndsCostsItsTimeLimit) {
  const auto flag = piece();
  write(0, std::vector<std::uint32_t>{0});
  auto plan = empty_plan();
  plan.calls.push_back(call_of({{0, launch(plan, "forever", flag)}}));
  Replay how;
  how.timeout_s = 1;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(failure_of(plan, how), HasSubstr("timed_out: the calls did not end within 1 s"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(took.count(), AllOf(Ge(1.0), Le(2.0)));
  EXPECT_FALSE(runner_->alive());
  memory_.clear();
  start();
  const auto again = piece();
  plan = empty_plan();
  plan.calls.push_back(call_of({{0, launch(plan, "count_up", again)}}));
  expect_replays(plan);
}

TEST_F(RunnerFaultsTest, AStopRequestEndsTheRunner) {
  const auto flag = piece();
  write(0, std::vector<std::uint32_t>{0});
  auto plan = empty_plan();
  plan.calls.push_back(call_of({{0, launch(plan, "forever", flag)}}));
  const auto number = runner_->keep(plan).value();
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(error_of(runner_->replay(number, {1, true, 60}, stop.get_token())).code, ErrorCode::cancelled);
}

TEST_F(RunnerFaultsTest, TheProcessEndsWithTheJudgeWhateverItDoes) {
  for (const bool busy : {false, true}) {
    auto ends = Channel::create().value();
    auto process = ChildProcess::start(runner_program(), {"0", "cuda", ""}, ends.second.descriptor()).value();
    ends.second.close();
    Channel& channel = ends.first;
    auto started = channel.receive();
    ASSERT_TRUE(started.has_value() && started->kind == MessageKind::done);
    if (busy) {
      auto plan = empty_plan();
      plan.workspace = plan::decoded<plan::Workspace>(started->payload).value();
      auto call = call_of({{0, launch(plan, "forever", plan.workspace.kept)}});
      call.kept_workspace = 4096;
      plan.calls.push_back(call);
      ASSERT_TRUE(channel.send(MessageKind::keep, plan::encode(plan)).has_value());
      auto kept = channel.receive();
      ASSERT_TRUE(kept.has_value() && kept->kind == MessageKind::done);
      const auto number = plan::decoded<std::uint32_t>(kept->payload).value();
      ASSERT_TRUE(channel.send(MessageKind::replay, plan::encoded(ReplayRequest{number, {1, true, 1000}}))
                      .has_value());
    }
    channel.close();
    EXPECT_EQ(process.reap(std::chrono::seconds(20)), "exit status 0");
  }
}

TEST(RunnerWithoutGpu, AProgramThatIsNotThereIsNotFound) {
  const auto started = Runner::start({"/nowhere/kernelsmith-cuda-runner", 0, &nvidia(), {}});
  EXPECT_EQ(started.error().code, ErrorCode::not_found);
}

TEST(RunnerWithoutGpu, AProgramThatSpeaksNoProtocolIsToldByItsEnd) {
  const auto started = Runner::start({"/bin/false", 0, &nvidia(), {}});
  EXPECT_EQ(started.error().code, ErrorCode::tool_failed);
  EXPECT_THAT(started.error().message, HasSubstr("exit status 1"));
}

TEST(RunnerWithoutGpu, AMachineWithoutADriverIsUnsupported) {
  if (kFakeDriver != nullptr || Device::count(nvidia()) > 0) GTEST_SKIP() << "there is a GPU";
  const auto started = Runner::start({runner_program(), 0, &nvidia(), {}});
  EXPECT_EQ(started.error().code, ErrorCode::unsupported) << describe(started.error());
}

}  // namespace
}  // namespace kernelsmith::cuda

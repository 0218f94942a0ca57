#include "runner/runner_pool.hpp"

#include <array>

#include <unistd.h>

#include <kernelsmith/sandbox/locate.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "workshop.hpp"

namespace kernelsmith::cpu {
namespace {

Task ones() {
  return task_of(
      "version: 1\nname: ones\nbackend: cpu\nentry: ones\nfiles: {reference: reference.cpp}\n"
      "sizes: {n: 8}\ntensors: [{name: y, role: out, dtype: f32, shape: [n]}]\n");
}

constexpr const char* kOnes =
    "#include \"task.hpp\"\nvoid ones(float* y, std::int64_t n) { for (std::int64_t i = 0; i < n; ++i) y[i] "
    "= 1; }\n";

/// Processes that this one has started and that are not gone.
int children() {
  int found = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (int pid = 0; file >> pid;) ++found;
  }
  return found;
}

/// Runners below a process that have not ended. One that nobody has reaped yet has.
int running(const std::string& parent = "self") {
  int found = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + parent + "/task", gone)) {
    std::ifstream children(task.path() / "children");
    for (std::string pid; children >> pid;) {
      std::ifstream stat("/proc/" + pid + "/stat");
      std::string number, name, state;
      stat >> number >> name >> state;
      if (name == "(kernelsmith-run)" && state != "Z") ++found;
      found += running(pid);
    }
  }
  return found;
}

class Pool : public ::testing::Test {
 protected:
  Pool() {
    workshop.compiler.reset();  // it may still have children of its own
    arena.emplace(Arena::create(std::array{TensorRole::out}, {ArenaShape{{8}, {32}, 1}}).value());
  }

  void expect_that_it_works(RunnerProcess& runner) {
    ASSERT_TRUE(runner.load(object->object()));
    arena->wipe();
    arena->set_calls(0, 1);
    ASSERT_TRUE(runner.call(1, 10));
    EXPECT_EQ(*reinterpret_cast<const float*>(arena->tensor(0, 0, 0)), 1.0F);
  }

  Workshop workshop{ones()};
  RunnerSettings settings = workshop.settings;
  CpuBinaryPtr object = workshop.build(kOnes);
  std::optional<Arena> arena;
};

TEST(RunnerChannel, DoesNotWaitForARunnerThatTakesNoRequests) {
  auto ends = RunnerChannel::create().value();
  constexpr int kMoreThanASocketHolds = 1'000'000;
  int sent = 0;
  while (sent < kMoreThanASocketHolds && ends.first.request(1)) ++sent;
  EXPECT_LT(sent, kMoreThanASocketHolds);
}

TEST_F(Pool, StartsARunnerWhereNoneWaits) {
  RunnerPool pool(settings);
  auto runner = pool.take(*arena).value();
  expect_that_it_works(runner);
}

TEST_F(Pool, NothingOfARetiredProgramIsLeft) {
  RunnerPool pool(settings);
  auto runner = pool.take(*arena).value();
  expect_that_it_works(runner);
  EXPECT_EQ(running(), 1);
  pool.retire(std::move(runner));
  pool.settle();
  EXPECT_EQ(running(), 0) << "it would hold its locks and memory while the next is called";
  pool.wake();
  pool.settle();
  EXPECT_EQ(children(), 0);
}

TEST_F(Pool, GivesOneThatWaits) {
  RunnerPool pool(settings);
  pool.prepare({&*arena});
  for (int wait = 0; wait < 10000 && children() == 0; ++wait) ::usleep(1000);
  pool.rest();
  const int waiting = children();
  auto runner = pool.take(*arena);
  ASSERT_TRUE(runner);
  EXPECT_EQ(children(), waiting) << "one that waited was not taken";
  expect_that_it_works(*runner);

  pool.retire(std::move(*runner));
  pool.settle();
  EXPECT_EQ(children(), waiting) << "what is small stays until it is buried";
  pool.wake();
  pool.settle();
  EXPECT_EQ(children(), waiting - 1);
}

TEST_F(Pool, WhatIsSetAsideStandsStillUntilItIsBuried) {
  RunnerPool pool(settings);
  auto runner = pool.take(*arena);
  ASSERT_TRUE(runner);
  const bool full_tier = runner->full_tier();
  expect_that_it_works(*runner);
  pool.set_aside(std::move(*runner));
  pool.settle();
  EXPECT_EQ(running(), full_tier ? 1 : 0);
  pool.wake();
  pool.settle();
  EXPECT_EQ(running(), 0);
  EXPECT_EQ(children(), 0);
}

TEST_F(Pool, WhatIsAskedForWhileItRestsIsPreparedAfterwards) {
  RunnerPool pool(settings);
  pool.rest();
  pool.prepare({&*arena});
  EXPECT_EQ(children(), 0);
  pool.wake();
  for (int wait = 0; wait < 10000 && children() == 0; ++wait) ::usleep(1000);
  EXPECT_GE(children(), 1);
}

TEST_F(Pool, LeavesNoProcessBehind) {
  {
    RunnerPool pool(settings);
    pool.prepare({&*arena});
    auto runner = pool.take(*arena);
    ASSERT_TRUE(runner);
    pool.retire(std::move(*runner));
  }
  EXPECT_EQ(children(), 0);
}

TEST_F(Pool, SaysWhyARunnerDoesNotStart) {
  settings.unsandboxed = true;
  settings.files = RunnerFiles::unconfined("/bin/false");
  RunnerPool pool(settings);
  pool.prepare({&*arena});
  pool.rest();
  const auto runner = pool.take(*arena);
  EXPECT_EQ(runner.error().code, ErrorCode::tool_failed);
  EXPECT_NE(runner.error().message.find("kernelsmith-runner does not start"), std::string::npos)
      << describe(runner.error());
}

TEST_F(Pool, OneThatIsNotReadyInTimeIsTheMachinesFaultAndTriedAgain) {
  const auto folder = ScratchFolder::create();
  ASSERT_TRUE(folder && folder->write("sleeps", "#!/bin/sh\nexec sleep 1000\n"));
  const std::filesystem::path program = folder->path() / "sleeps";
  std::filesystem::permissions(program, std::filesystem::perms{0755});
  settings.unsandboxed = true;
  settings.load_timeout_s = 0.1;
  settings.files = RunnerFiles::unconfined(program);
  const auto runner = RunnerProcess::start(*arena, settings);
  EXPECT_EQ(runner.error().code, ErrorCode::busy) << describe(runner.error());
}

TEST_F(Pool, LoadsFromTheHostWhereNothingIsConfined) {
  settings.unsandboxed = true;
  settings.cgroup = false;
  settings.files =
      RunnerFiles::unconfined(locate_program("kernelsmith-runner", "KERNELSMITH_RUNNER").value());
  auto runner = RunnerProcess::start(*arena, settings).value();
  expect_that_it_works(runner);
}

}  // namespace
}  // namespace kernelsmith::cpu

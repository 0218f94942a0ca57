// Limits hold, and whatever a program started is gone afterwards.
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include <kernelsmith/sandbox/capabilities.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "programs.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;
using testing::Not;

// How long the programs of these tests sleep: a number of this process alone, for others may run the same
// tests.
const std::string kMark = "1234." + std::to_string(100'000'000 + ::getpid());
const std::string kSleep = "sleep " + kMark;

// True while some process of this machine has `mark` among its arguments.
bool process_is_left(const std::string& mark) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "cmdline");
    std::ostringstream text;
    text << file.rdbuf();  // an iterator would throw if the process ends here
    const std::string line = text.str();
    if (line.find(mark) != std::string::npos) return true;
  }
  return false;
}

TEST(Limits, TheDeadlineEndsEverything) {
  SandboxSpec spec = shell(kSleep + " & " + kSleep);
  spec.limits.wall_s = 0.2;
  const SandboxResult result = run(spec);
  EXPECT_EQ(result.kind, ExitKind::wall_limit);
  EXPECT_FALSE(process_is_left(kMark));
}

TEST(Limits, WhatShouldComputeAndStandsStillIsTheMachinesFault) {
  if (!probe_sandbox().find("cpu clock")->available) GTEST_SKIP() << "no cgroup lends a clock";
  SandboxSpec spec = shell(kSleep);
  spec.limits.still_s = 0.2;
  const auto stands = run_sandboxed(spec);
  ASSERT_FALSE(stands);
  EXPECT_EQ(stands.error().code, ErrorCode::busy) << describe(stands.error());
  EXPECT_FALSE(process_is_left(kMark));
}

TEST(Limits, ADaemonDoesNotSurviveItsProgram) {
  const SandboxResult result = run(shell("setsid " + kSleep + " >/dev/null 2>&1 & exit 0"));
  EXPECT_TRUE(result.succeeded());
  EXPECT_FALSE(process_is_left(kMark));
}

TEST(Limits, ADaemonThatHoldsTheOutputOpenDoesNotDelayTheEnd) {
  const SandboxResult result = run(shell("setsid " + kSleep + " & exit 0"));
  EXPECT_TRUE(result.succeeded());
  EXPECT_LT(result.wall_s, kPatienceS / 2);
  EXPECT_FALSE(process_is_left(kMark));
}

TEST(Limits, AForkBombIsContained) {
  SandboxSpec spec = python(R"(
import os, time
started = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(1000)
            os._exit(0)
        started += 1
except OSError:
    print(started)
)");
  spec.limits.processes = 20;
  const SandboxResult result = run(spec);
  ASSERT_TRUE(result.succeeded()) << describe(result) << result.err;
  EXPECT_LT(std::stoi(result.out), 20);
  EXPECT_GT(std::stoi(result.out), 5);
}

TEST(Limits, AHundredGigabytesAreRefused) {
  const SandboxResult result = run(python("x = bytearray(100 << 30)"));
  EXPECT_FALSE(result.succeeded());
  EXPECT_THAT(result.err, HasSubstr("MemoryError"));
}

TEST(Limits, MemoryOfManyProcessesIsContained) {
  const SandboxCapabilities machine = probe_sandbox();
  if (!machine.find("memory limit")->available) GTEST_SKIP() << "no memory cgroup can be made here";
  // Every child takes its memory and stops; then all go on to their end, but for those that the kernel
  // killed.
  SandboxSpec spec = python(R"(
import os, signal
children = []
for i in range(8):
    child = os.fork()
    if child == 0:
        x = bytearray(48 << 20)
        for at in range(0, len(x), 4096): x[at] = 1
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    children.append(child)
stopped = [child for child in children if os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])]
for child in stopped: os.kill(child, signal.SIGCONT)
print(sum(os.waitpid(child, 0)[1] == 0 for child in stopped))
)");
  spec.limits.memory_bytes = 1 << 30;
  EXPECT_EQ(run(spec).out, "8\n");
  spec.limits.memory_bytes = 256 << 20;
  EXPECT_NE(run(spec).out, "8\n");
}

TEST(Limits, ASingleProcessIsKilledForItsMemory) {
  SandboxSpec spec = python(R"(
import mmap
m = mmap.mmap(-1, 200 << 20)
for i in range(0, len(m), 4096): m[i] = 1
)");
  spec.limits.memory_bytes = 128 << 20;
  EXPECT_FALSE(run(spec).succeeded());
}

TEST(Limits, AGigabyteOfOutputIsCapped) {
  SandboxSpec spec = shell("head -c 1000000000 /dev/zero");
  spec.limits.output_bytes = 4 << 20;
  spec.limits.kept_output_bytes = 1000;
  const SandboxResult result = run(spec);
  EXPECT_EQ(result.kind, ExitKind::output_limit);
  EXPECT_EQ(result.out.size(), 1000U);
  EXPECT_TRUE(result.out_truncated);
}

TEST(Limits, TheTailOfTheOutputIsKept) {
  SandboxSpec spec = shell("seq 1 100000; echo the end");
  spec.limits.kept_output_bytes = 100;
  const SandboxResult result = run(spec);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.out.size(), 100U);
  EXPECT_THAT(result.out, HasSubstr("99999\n100000\nthe end\n"));
}

TEST(Limits, FilesAndFoldersInMemoryHaveASize) {
  SandboxSpec spec = shell(
      "for d in /tmp /dev/shm; do head -c 50000000 /dev/zero > $d/big 2>/dev/null || echo full $d; done");
  spec.limits.tmp_bytes = 1 << 20;
  spec.limits.shm_bytes = 1 << 20;
  EXPECT_EQ(run(spec).out, "full /tmp\nfull /dev/shm\n");

  spec.limits.tmp_bytes = 64 << 20;
  spec.limits.file_bytes = 1 << 20;
  spec.argv.back() = "head -c 50000000 /dev/zero > /tmp/big; ls -l /tmp/big | cut -d' ' -f5";
  EXPECT_EQ(run(spec).out, "1048576\n");
}

TEST(Limits, CpuTimeIsLimited) {
  SandboxSpec spec = shell("while :; do :; done");
  spec.limits.cpu_s = 1;
  const SandboxResult result = run(spec);
  EXPECT_EQ(result.kind, ExitKind::signalled);
}

TEST(Limits, AStopRequestEndsIt) {
  std::stop_source stop;
  SandboxSpec spec = shell(kSleep);
  std::thread stopper([&] {
    while (!process_is_left(kMark)) std::this_thread::yield();
    stop.request_stop();
  });
  const auto result = run_sandboxed(spec, stop.get_token());
  stopper.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
  EXPECT_FALSE(process_is_left(kMark));
}

TEST(Limits, AStopRequestBeforeTheStartEndsItToo) {
  std::stop_source stop;
  stop.request_stop();
  const auto result = run_sandboxed(shell(kSleep), stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST(Limits, ManySandboxesRunAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      for (int k = 0; k < 5; ++k) {
        const std::string text = std::to_string(i) + "." + std::to_string(k);
        EXPECT_EQ(run(shell("echo " + text)).out, text + "\n");
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kernelsmith

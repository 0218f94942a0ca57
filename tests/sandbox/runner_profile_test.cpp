// What seccomp denies to a program that loads candidate code.
#include <csignal>

#include <sched.h>

#include "programs.hpp"

namespace kernelsmith {
namespace {

constexpr int kRefused = 1;

TEST(RunnerProfile, ProcessesAndTimersAreDeadly) {
  for (const char* what : {"fork", "timer", "interval timer", "thread"}) {
    const SandboxResult result = run(probe(what));
    EXPECT_EQ(result.kind, ExitKind::signalled) << what;
    EXPECT_EQ(result.code, SIGSYS) << what;
  }
}

TEST(RunnerProfile, OtherWaysAroundTheClockAreRefused) {
  for (const char* what : {"SIGCONT handler",
                           "signal of a descriptor",
                           "affinity",
                           "memfd",
                           "socket",
                           "limit",
                           "shell",
                           "device's time",
                           "memory policy",
                           "second mapping",
                           "page removed",
                           "page cache",
                           "note at a file",
                           "disks flushed",
                           "shared core",
                           "speculation",
                           "merged memory",
                           "record lock",
                           "waiting record lock",
                           "question for a record lock",
                           "lock of an open file",
                           "queued signal",
                           "pipe",
                           "pipe's size",
                           "epoll",
                           "machine's memory",
                           "file systems",
                           "mounts",
                           "socket's number",
                           "younger call",
                           "devices"}) {
    const SandboxResult result = run(probe(what));
    EXPECT_EQ(result.kind, ExitKind::exited) << what;
    EXPECT_EQ(result.code, kRefused) << what;
  }
}

TEST(RunnerProfile, HonestHandlersAreAllowed) { EXPECT_TRUE(run(probe("SIGUSR1 handler")).succeeded()); }

TEST(RunnerProfile, PlainSignalsAreAllowed) { EXPECT_TRUE(run(probe("plain signal")).succeeded()); }

TEST(RunnerProfile, ThreadsAreAllowedWhereDeclaredAndProcessesAreNot) {
  EXPECT_TRUE(run(probe("thread", SandboxProfile::runner_with_threads)).succeeded());
  const SandboxResult result = run(probe("fork", SandboxProfile::runner_with_threads));
  EXPECT_EQ(result.kind, ExitKind::signalled);
  EXPECT_EQ(result.code, SIGSYS);
}

TEST(RunnerProfile, TheProcessorsAreThoseThatWereChosen) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  SandboxSpec spec = probe("one processor");
  for (int core = CPU_SETSIZE - 1; spec.cores.empty(); --core)
    if (CPU_ISSET(core, &allowed)) spec.cores = {core};
  EXPECT_TRUE(run(spec).succeeded());
}

// The same attempts succeed when they are allowed: the probe can tell the difference.
TEST(RunnerProfile, ACommandMayDoWhatARunnerMayNot) {
  for (const char* what :
       {"fork", "thread", "timer", "interval timer", "SIGCONT handler", "signal of a descriptor", "memfd",
        "socket", "limit", "second mapping", "page removed", "page cache", "note at a file", "disks flushed",
        "shared core", "speculation", "merged memory"})
    EXPECT_TRUE(run(probe(what, SandboxProfile::command)).succeeded()) << what;
}

}  // namespace
}  // namespace kernelsmith

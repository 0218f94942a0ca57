// A long-lived sandboxed program that is talked to.
#include <csignal>
#include <filesystem>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <kernelsmith/sandbox/process.hpp>

#include "programs.hpp"

namespace kernelsmith {
namespace {

using namespace std::chrono_literals;

// A connected pair of sockets: ours, and the program's descriptor 3.
struct Channel {
  Channel() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }
  ~Channel() {
    hang_up();
    close_theirs();
  }
  void hang_up() { close_end(0); }
  void close_theirs() { close_end(1); }
  void close_end(int which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
  char exchange(char byte) const { return ::write(ends[0], &byte, 1) == 1 ? receive() : '\0'; }
  char receive() const {
    char byte = 0;
    return ::read(ends[0], &byte, 1) == 1 ? byte : '\0';
  }
  int ends[2];
};

Result<SandboxedProcess> start_probe(const std::string& what, Channel& channel) {
  SandboxSpec spec = probe(what);
  spec.descriptors = {{channel.ends[1], 3}};
  Result<SandboxedProcess> process = SandboxedProcess::start(spec);
  channel.close_theirs();
  return process;
}

bool exists(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(SandboxedProcess, TalksOverItsDescriptorAndEndsWhenItIsDone) {
  Channel channel;
  Result<SandboxedProcess> process = start_probe("echo", channel);
  ASSERT_TRUE(process) << describe(process.error());
  EXPECT_EQ(channel.exchange('a'), 'a');
  EXPECT_EQ(channel.exchange('b'), 'b');
  EXPECT_TRUE(process->alive());
  EXPECT_FALSE(process->wait_for(0s));
  channel.hang_up();
  const Result<SandboxResult> result = process->wait();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded()) << describe(*result);
  EXPECT_FALSE(process->alive());
  pollfd end{process->exit_descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 0), 1);
}

TEST(SandboxedProcess, KillEndsIt) {
  Channel channel;
  Result<SandboxedProcess> process = start_probe("echo", channel);
  ASSERT_TRUE(process);
  EXPECT_EQ(channel.exchange('a'), 'a');
  process->kill();
  const Result<SandboxResult> result = process->wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, ExitKind::killed);
}

TEST(SandboxedProcess, TheDestructorLeavesNothingBehind) {
  pid_t monitor = 0, program = 0;
  std::filesystem::path group;
  {
    Channel channel;
    Result<SandboxedProcess> process = start_probe("spin", channel);
    ASSERT_TRUE(process);
    EXPECT_EQ(channel.receive(), 'r');
    monitor = process->pid();
    program = process->program_pid().value();
    EXPECT_TRUE(exists(monitor));
    EXPECT_TRUE(exists(program));
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(program) + "/exe").filename(), "probe");
    if (process->cgroup() != nullptr) group = process->cgroup()->path();
  }
  EXPECT_FALSE(exists(monitor));
  EXPECT_FALSE(exists(program));
  EXPECT_FALSE(!group.empty() && std::filesystem::exists(group));
}

TEST(SandboxedProcess, IsKilledRightAfterItsStart) {
  for (int i = 0; i < 20; ++i) {
    Channel channel;
    Result<SandboxedProcess> process = start_probe("spin", channel);
    ASSERT_TRUE(process);
    process->kill();
    const auto result = process->wait_for(90s);
    ASSERT_TRUE(result);
    ASSERT_TRUE(*result);
    EXPECT_EQ((*result)->kind, ExitKind::killed);
  }
}

TEST(SandboxedProcess, SurvivesTheThreadThatStartedIt) {
  Channel channel;
  std::optional<SandboxedProcess> process;
  std::thread([&] {
    if (auto started = start_probe("echo", channel)) process.emplace(std::move(*started));
  }).join();
  ASSERT_TRUE(process);
  EXPECT_EQ(channel.exchange('a'), 'a');
  EXPECT_TRUE(process->alive());
}

TEST(SandboxedProcess, AKilledMonitorTakesItsProgramAlong) {
  Channel channel;
  Result<SandboxedProcess> process = start_probe("spin", channel);
  ASSERT_TRUE(process);
  EXPECT_EQ(channel.receive(), 'r');
  const pid_t program = process->program_pid().value();
  ::kill(process->pid(), SIGKILL);
  const Result<SandboxResult> result = process->wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, ExitKind::signalled);
  EXPECT_EQ(result->code, SIGKILL);
  EXPECT_FALSE(exists(program));
}

// It reaps nobody, and may not have said yet who its init is.
TEST(SandboxedProcess, AStoppedMonitorDelaysNoEnd) {
  Channel channel, other;
  Result<SandboxedProcess> running = start_probe("spin", channel);
  ASSERT_TRUE(running);
  EXPECT_EQ(channel.receive(), 'r');
  Result<SandboxedProcess> starting = start_probe("spin", other);
  ASSERT_TRUE(starting);
  const pid_t program = running->program_pid().value();
  for (SandboxedProcess* process : {&*running, &*starting}) {
    ::kill(process->pid(), SIGSTOP);
    process->kill();
  }
  for (SandboxedProcess* process : {&*running, &*starting}) {
    const auto result = process->wait_for(90s);
    ASSERT_TRUE(result);
    ASSERT_TRUE(*result) << describe(result->error());
    EXPECT_EQ((*result)->kind, ExitKind::killed);
    EXPECT_FALSE(exists(process->pid()));
  }
  EXPECT_FALSE(exists(program));
}

// As where SIGCHLD is ignored, or Python's os.wait() is called.
TEST(SandboxedProcess, AnEndThatSomebodyElseTookIsSeen) {
  Channel channel;
  Result<SandboxedProcess> process = start_probe("echo", channel);
  ASSERT_TRUE(process);
  EXPECT_EQ(channel.exchange('a'), 'a');
  std::signal(SIGCHLD, SIG_IGN);
  channel.hang_up();
  const auto result = process->wait_for(90s);
  std::signal(SIGCHLD, SIG_DFL);
  ASSERT_TRUE(result);
  ASSERT_TRUE(*result) << describe(result->error());
  EXPECT_TRUE((*result)->succeeded()) << "bubblewrap said so";
}

TEST(SandboxedProcess, TheTimeLimitHolds) {
  Channel channel;
  SandboxSpec spec = probe("spin");
  spec.descriptors = {{channel.ends[1], 3}};
  spec.limits.wall_s = 0.1;
  Result<SandboxedProcess> process = SandboxedProcess::start(spec);
  ASSERT_TRUE(process);
  const Result<SandboxResult> result = process->wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, ExitKind::wall_limit);
}

TEST(SandboxedProcess, AProgramThatCannotRunIsAnError) {
  SandboxSpec spec = probe("echo");
  spec.argv = {"/nothing"};
  Result<SandboxedProcess> process = SandboxedProcess::start(spec);
  ASSERT_TRUE(process);
  const Result<SandboxResult> result = process->wait();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace kernelsmith

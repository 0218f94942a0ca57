// The freezer and the clock of a cgroup, on a program that spins.
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <kernelsmith/sandbox/process.hpp>

#include "cgroup_mount.hpp"
#include "descriptor.hpp"
#include "programs.hpp"

namespace kernelsmith {
namespace {

// The file with the weight of the group that a process is in, by the line "id:controllers:path" that names
// one of ours.
std::string weight_of(pid_t pid) {
  std::istringstream lines(read_small_file("/proc/" + std::to_string(pid) + "/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::string name = std::filesystem::path(line).filename().string();
    if (!name.starts_with("kernelsmith-")) continue;
    for (const auto& [controller, file] : {std::pair("cpu", "cpu.shares"), std::pair("", "cpu.weight")})
      if (const auto folder = own_cgroup(controller))
        if (const std::string text = read_small_file(*folder / name / file); !text.empty()) return text;
  }
  return "";
}

TEST(GivesWay, WithATenthForAllThatItStarts) {
  SandboxSpec spec = shell("sleep 100 & wait");
  spec.profile = SandboxProfile::command;
  spec.limits.gives_way = true;
  const auto process = SandboxedProcess::start(spec).value();
  const auto program = process.program_pid();
  ASSERT_TRUE(program);
  const std::string weight = weight_of(*program);
  if (weight.empty()) GTEST_SKIP() << "no cgroup with a weight can be made here";
  EXPECT_THAT(weight, testing::AnyOf("102\n", "10\n"));
}

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Result<Cgroup> cgroup = Cgroup::create(); !cgroup) GTEST_SKIP() << describe(cgroup.error());
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel_), 0);
    SandboxSpec spec = probe("spin");
    spec.descriptors = {{channel_[1], 3}};
    Result<SandboxedProcess> started = SandboxedProcess::start(spec);
    ASSERT_TRUE(started);
    process_.emplace(std::move(*started));
    char ready = 0;
    ASSERT_EQ(::read(channel_[0], &ready, 1), 1);
  }
  void TearDown() override {
    for (const int end : channel_)
      if (end >= 0) ::close(end);
  }

  Cgroup& cgroup() { return *process_->cgroup(); }
  std::uint64_t time_us() { return cgroup().cpu_time_us().value(); }

  // The kernel says "frozen" just before the last task leaves its processor, and on a virtual machine whose
  // host takes the processor away at that moment the tail is charged later. Hence not "no advance", but:
  // after a while the clock stands still for longer than a program that spins would wait for a processor.
  bool comes_to_a_standstill() {
    constexpr int kLooks = 50;
    constexpr std::chrono::milliseconds kLook{100};
    for (int look = 0; look < kLooks; ++look) {
      const std::uint64_t before = time_us();
      std::this_thread::sleep_for(kLook);
      if (time_us() == before) return true;
    }
    return false;
  }

  int channel_[2] = {-1, -1};
  std::optional<SandboxedProcess> process_;
};

TEST_F(CgroupTest, TheClockStandsStillWhileFrozenAndRunsOtherwise) {
  ASSERT_TRUE(cgroup().freeze());
  EXPECT_TRUE(comes_to_a_standstill());

  const std::uint64_t frozen = time_us();
  ASSERT_TRUE(cgroup().thaw());
  while (time_us() < frozen + 5000) std::this_thread::yield();
}

TEST_F(CgroupTest, SigcontDoesNotThaw) {
  ASSERT_TRUE(cgroup().freeze());
  ASSERT_TRUE(comes_to_a_standstill());
  ASSERT_EQ(::kill(process_->program_pid().value(), SIGCONT), 0);
  EXPECT_TRUE(comes_to_a_standstill());
}

TEST_F(CgroupTest, AFrozenProgramCanBeKilled) {
  ASSERT_TRUE(cgroup().freeze());
  process_->kill();
  const Result<SandboxResult> result = process_->wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, ExitKind::killed);
}

TEST(Cgroup, IsRemovedByItsDestructor) {
  std::filesystem::path path;
  {
    Result<Cgroup> cgroup = Cgroup::create();
    if (!cgroup) GTEST_SKIP() << describe(cgroup.error());
    path = cgroup->path();
    EXPECT_TRUE(std::filesystem::exists(path));
    const Cgroup moved = std::move(*cgroup);
    EXPECT_EQ(moved.path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Cgroup, WhatADeadProcessLeftIsRemoved) {
  const Result<Cgroup> living = Cgroup::create();
  if (!living) GTEST_SKIP() << describe(living.error());
  const std::filesystem::path parent = living->path().parent_path();
  const std::filesystem::path dead = parent / "kernelsmith-999999999-0";  // above every process id
  ASSERT_TRUE(std::filesystem::create_directory(dead));
  remove_orphans(parent);
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(living->path()));
}

}  // namespace
}  // namespace kernelsmith

// The same tests as an ordinary user, if this machine lets root become one.
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/sandbox/capabilities.hpp>

#include "programs.hpp"

namespace kernelsmith {
namespace {

constexpr unsigned kOrdinary = 12345;

// The parts that a sandbox of every kind needs. Run by the test below, as another user.
TEST(OrdinaryUser, DISABLED_Child) {
  ASSERT_NE(::geteuid(), 0U);
  EXPECT_NE(probe_sandbox().tier(), "unsandboxed");
  EXPECT_EQ(run(shell("id -u; cat /etc/passwd 2>&1")).out,
            "65534\ncat: /etc/passwd: No such file or directory\n");
  if (::access(SANDBOX_PROBE, X_OK) == 0) {  // not where the build lies in a private folder
    EXPECT_EQ(run(probe("fork")).code, SIGSYS);
  }
  SandboxSpec bomb = python(
      "import os, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(99)\n"
      "    n += 1\nexcept OSError: print(n)");
  bomb.limits.processes = 20;
  const SandboxResult result = run(bomb);
  EXPECT_TRUE(result.succeeded()) << describe(result) << result.err;
  EXPECT_LT(std::atoi(result.out.c_str()), 20);
}

TEST(OrdinaryUser, CanSandboxToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "this is an ordinary user already: the other tests say it";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  int output[2];
  ASSERT_EQ(::pipe(output), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(output[1], 1);
    ::dup2(output[1], 2);
    ::close(output[0]);
    // The path to the build may be closed to others, an open file is not.
    const int program = ::open(self.c_str(), O_RDONLY);
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kOrdinary, kOrdinary, kOrdinary) != 0 ||
        ::setresuid(kOrdinary, kOrdinary, kOrdinary) != 0)
      ::_exit(77);
    const char* arguments[] = {"sandbox_test", "--gtest_also_run_disabled_tests",
                               "--gtest_filter=OrdinaryUser.DISABLED_Child", nullptr};
    const char* environment[] = {"PATH=/usr/bin:/bin", nullptr};
    ::fexecve(program, const_cast<char**>(arguments), const_cast<char**>(environment));
    ::_exit(78);
  }
  ::close(output[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n = 0; (n = ::read(output[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(output[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) >= 77) GTEST_SKIP() << "this root cannot become another user";
  EXPECT_EQ(status, 0) << text;
}

}  // namespace
}  // namespace kernelsmith

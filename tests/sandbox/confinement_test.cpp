// What a sandboxed program can see and reach: nothing that was not given to it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "programs.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Confinement, AProgramRunsAndItsOutputIsCaptured) {
  const SandboxResult result = run(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.kind, ExitKind::exited);
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(describe(result), "exit status 7");
}

TEST(Confinement, ASignalIsToldFromAnExitCode) {
  const SandboxResult result = run(shell("kill -SEGV $$"));
  EXPECT_EQ(result.kind, ExitKind::signalled);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST(Confinement, HostFilesAreInvisible) {
  const char* home = std::getenv("HOME");
  const SandboxResult result =
      run(shell("for f in /etc/passwd /etc/hostname /root /home /work /sys /proc /var /run /boot /srv '" +
                std::string(home != nullptr ? home : "/root") +
                "'; do [ -e \"$f\" ] && echo \"sees $f\"; done; ls -A /tmp"));
  EXPECT_EQ(result.out, "");
}

TEST(Confinement, TheEnvironmentIsWhatWasGiven) {
  ::setenv("KERNELSMITH_TEST_API_KEY", "secret", 1);
  SandboxSpec spec = program({"/usr/bin/env"});
  spec.environment = {{"LANG", "C"}};
  const SandboxResult result = run(spec);
  ::unsetenv("KERNELSMITH_TEST_API_KEY");
  EXPECT_THAT(result.out, HasSubstr("LANG=C\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("KEY")));
  EXPECT_THAT(result.out, Not(HasSubstr("PATH")));
}

TEST(Confinement, TheNetworkIsOff) {
  const SandboxResult result = run(python(R"(
import socket
families = dict(inet=socket.AF_INET, inet6=socket.AF_INET6, vsock=socket.AF_VSOCK, netlink=socket.AF_NETLINK)
for name, family in families.items():
    try:
        socket.socket(family, socket.SOCK_STREAM)
        print('opened', name)
    except PermissionError:
        print('denied', name)
)"));
  EXPECT_EQ(result.out, "denied inet\ndenied inet6\ndenied vsock\ndenied netlink\n") << result.err;
}

TEST(Confinement, TheNetworkOfTheMachineIsThereForWhatIsOnline) {
  SandboxSpec spec = python(R"(
import socket
with socket.create_server(('127.0.0.1', 0)) as server:
    socket.create_connection(server.getsockname()).close()
    print('connected')
print(len(socket.if_nameindex()) > 0)
try:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
except PermissionError:
    print('denied')
)");
  spec.profile = SandboxProfile::online;
  const SandboxResult result = run(spec);
  EXPECT_EQ(result.out, "connected\nTrue\ndenied\n") << result.err;
}

// A session's bus and an X server listen at such names, and let in whoever has their user's number.
TEST(Confinement, OnlineItReachesNoAbstractSocketOfTheHost) {
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) < 6)
    GTEST_SKIP() << "needs Landlock of Linux 6.12";
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{AF_UNIX, {}};
  ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address.sun_family),
            0);  // any free name
  ASSERT_EQ(::listen(server, 1), 0);
  socklen_t length = sizeof address;
  ASSERT_EQ(::getsockname(server, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string name(address.sun_path + 1, length - sizeof address.sun_family - 1);
  SandboxSpec spec = python("name = '\\x00" + name + R"('
import socket
try:
    socket.socket(socket.AF_UNIX).connect(name)
except PermissionError:
    print('denied')
own = socket.socket(socket.AF_UNIX)
own.bind('\0own')
own.listen()
socket.socket(socket.AF_UNIX).connect('\0own')
print('own')
)");
  spec.profile = SandboxProfile::online;
  const SandboxResult result = run(spec);
  ::close(server);
  EXPECT_EQ(result.out, "denied\nown\n") << result.err;
}

TEST(Confinement, OnlyTheScratchFolderAndTmpCanBeWritten) {
  Result<ScratchFolder> scratch = ScratchFolder::create();
  ASSERT_TRUE(scratch);
  SandboxSpec spec = shell(
      "for d in / /dev /usr /usr/bin /usr/lib /etc /tmp /dev/shm /scratch; do "
      "( : > $d/probe ) 2>/dev/null && echo \"writes $d\"; done; echo kept > /scratch/answer");
  spec.read_write = {{scratch->path(), "/scratch"}};
  EXPECT_EQ(run(spec).out, "writes /tmp\nwrites /dev/shm\nwrites /scratch\n");
  EXPECT_EQ(scratch->read("answer", 100).value(), "kept\n");
}

TEST(Confinement, ItRunsAsNobodyWithoutPrivileges) {
  const SandboxResult result = run(python(R"(
import os, ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(os.getuid(), os.getgid(), os.geteuid())
for call, arguments in dict(unshare=[0x10000000], mount=[b'none', b'/tmp', b'tmpfs', 0, None],
                            setuid=[0], chroot=[b'/tmp'], ptrace=[0, 0, 0, 0]).items():
    if getattr(libc, call)(*arguments) == 0:
        print('allowed', call)
)"));
  EXPECT_EQ(result.out, "65534 65534 65534\n") << result.err;
}

TEST(Confinement, OtherProcessesAreInvisible) {
  const std::string own = std::to_string(::getpid());
  const SandboxResult result = run(python("import os\nprint(os.getpid() < 10)\ntry: os.kill(" + own +
                                          ", 0)\nexcept ProcessLookupError: print('no such process')"));
  EXPECT_EQ(result.out, "True\nno such process\n") << result.err;
}

TEST(Confinement, OnlyListedDescriptorsArePassedUnderTheirNumbers) {
  const int leaked = ::open("/dev/zero", O_RDONLY);  // deliberately without O_CLOEXEC
  const int memory = ::memfd_create("given", MFD_CLOEXEC);
  ASSERT_EQ(::write(memory, "hello", 5), 5);
  SandboxSpec spec = python(R"(
import os
open_ones = []
for number in range(3, 250):
    try:
        os.fstat(number)
        open_ones.append(number)
    except OSError: pass
print(open_ones, os.pread(5, 10, 0).decode())
)");
  spec.descriptors = {{memory, 5}};
  const SandboxResult result = run(spec);
  ::close(leaked);
  ::close(memory);
  EXPECT_EQ(result.out, "[5] hello\n") << result.err;
}

TEST(Confinement, NoDescriptorIsLeakedHere) {
  const auto count = [] {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
  };
  run(shell("true"));  // whatever is kept for good is opened now
  const std::size_t before = count();
  for (int i = 0; i < 3; ++i) run(shell("true"));
  EXPECT_EQ(count(), before);
}

TEST(Confinement, ThisProcessIsAsDumpableAsBefore) {
  const int before = ::prctl(PR_GET_DUMPABLE);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 5; ++k) EXPECT_TRUE(run(shell("exit 0")).succeeded());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), before);
}

TEST(Confinement, AMissingProgramIsAnError) {
  const auto result = run_sandboxed(program({"/usr/bin/no-such-program"}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
}

TEST(Confinement, AMissingBindIsAnError) {
  SandboxSpec spec = shell("true");
  spec.read_only.push_back({"/no/such/folder", "/x"});
  const auto result = run_sandboxed(spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_EQ(result.error().where, "/no/such/folder");
}

TEST(Confinement, WithoutBubblewrapNothingRuns) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const auto result = run_sandboxed(shell("true"));
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::tool_missing);
  EXPECT_THAT(result.error().hint, HasSubstr("apt-get install bubblewrap"));
}

TEST(Confinement, UnsandboxedMustBeAskedForAndStillHasAShortEnvironment) {
  ::setenv("KERNELSMITH_TEST_API_KEY", "secret", 1);
  SandboxSpec spec = program({"/bin/sh", "-c", "env; ls -d /proc"});
  spec.confinement = Confinement::unsandboxed;
  const SandboxResult result = run(spec);
  ::unsetenv("KERNELSMITH_TEST_API_KEY");
  EXPECT_TRUE(result.succeeded());
  EXPECT_THAT(result.out, HasSubstr("/proc\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace kernelsmith

#include "spawn.hpp"

#include <array>
#include <csignal>
#include <optional>

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "clone.hpp"

namespace kernelsmith {

namespace {

// The child's own copies are above all of its final descriptor numbers.
constexpr int kFirstCopy = 200;
constexpr int kFailureDescriptor = 100;
constexpr std::size_t kMostDescriptors = 80;

// Everything that the child needs, prepared before cloning, because it must not allocate.
struct Prepared {
  const SpawnRequest& request;
  std::vector<char*> argv;
  std::vector<char*> environment;
  int failure = -1;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The functions below run in the child, in this process's memory or a copy of it. They make raw system calls,
// because a sanitizer's interceptors may hold a lock that another thread had at that moment.

struct Failure {
  int number;
  char step[28];
};

[[noreturn]] void give_up(int descriptor, const char* step) {
  Failure failure{errno, {}};
  for (std::size_t i = 0; i + 1 < sizeof failure.step && step[i] != 0; ++i) failure.step[i] = step[i];
  ::syscall(SYS_write, descriptor, &failure, sizeof failure);
  ::syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

void reset_signals() {
  struct {
    std::uint64_t handler = 0, flags = 0, restorer = 0, mask = 0;
  } by_default;
  for (int number = 1; number < 65; ++number)
    ::syscall(SYS_rt_sigaction, number, &by_default, nullptr, sizeof by_default.mask);
  const std::uint64_t none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
}

// Returns the failure pipe's new number.
int take_descriptors(const Prepared& prepared) {
  const auto& wanted = prepared.request.descriptors;
  std::array<int, kMostDescriptors> copies{};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    copies[i] = static_cast<int>(::syscall(SYS_fcntl, wanted[i].first, F_DUPFD_CLOEXEC, kFirstCopy));
    if (copies[i] < 0) give_up(prepared.failure, "copying a descriptor");
  }
  const int failure = static_cast<int>(::syscall(SYS_fcntl, prepared.failure, F_DUPFD_CLOEXEC, kFirstCopy));
  if (failure < 0 || ::syscall(SYS_close_range, 0, kFirstCopy - 1, 0) != 0)
    give_up(prepared.failure, "closing descriptors");
  ::syscall(SYS_dup3, failure, kFailureDescriptor, O_CLOEXEC);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (::syscall(SYS_dup3, copies[i], wanted[i].second, 0) < 0)
      give_up(kFailureDescriptor, "placing a descriptor");
  ::syscall(SYS_close_range, kFirstCopy, ~0U, 0);
  return kFailureDescriptor;
}

void stage_one(const StagedPath& path, int source, int failure) {
  struct stat status {};
  if (::syscall(SYS_newfstatat, source, "", &status, AT_EMPTY_PATH) != 0)
    give_up(failure, "examining a bind");
  if (S_ISDIR(status.st_mode)) {
    ::syscall(SYS_mkdirat, AT_FDCWD, path.place.c_str(), 0755);
  } else {
    ::syscall(SYS_close,
              ::syscall(SYS_openat, AT_FDCWD, path.place.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  }
  char from[32] = "/proc/self/fd/";
  std::size_t length = 14;
  for (int divisor = 1000; divisor > 0; divisor /= 10)
    if (source >= divisor || divisor == 1) from[length++] = static_cast<char>('0' + source / divisor % 10);
  from[length] = 0;
  if (::syscall(SYS_mount, from, path.place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    give_up(failure, "staging a bind");
}

// In its own mount namespace the child, still root, opens the paths and mounts them where any user may reach
// them.
void stage(const std::vector<StagedPath>& paths, int failure) {
  if (::syscall(SYS_unshare, CLONE_NEWNS) != 0) give_up(failure, "making a mount namespace");
  if (::syscall(SYS_mount, "none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    give_up(failure, "making mounts private");
  std::array<int, kMostDescriptors> sources{};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    sources[i] =
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, paths[i].source.c_str(), O_PATH | O_CLOEXEC, 0));
    if (sources[i] < 0) give_up(failure, "opening a bind");
  }
  if (::syscall(SYS_mount, "tmpfs", kStage, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755") != 0)
    give_up(failure, "mounting the stage");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    stage_one(paths[i], sources[i], failure);
    ::syscall(SYS_close, sources[i]);
  }
}

void become_nobody(int failure) {
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::syscall(SYS_setresgid, kNobody, kNobody, kNobody) != 0 ||
      ::syscall(SYS_setresuid, kNobody, kNobody, kNobody) != 0)
    give_up(failure, "becoming nobody");
}

void stay_on(const std::vector<int>& cores, int failure) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  if (::syscall(SYS_sched_setaffinity, 0, sizeof mask, &mask) < 0) give_up(failure, "choosing processors");
}

// Abstract sockets belong to the network namespace, which an online sandbox shares with the host. An older
// kernel cannot do this, and docs/agents.md says so.
void keep_to_own_sockets(int failure) {
  const struct {
    std::uint64_t handled_access_fs, handled_access_net, scoped;
  } landlock{0, 0, 1};  // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
  const long rules = ::syscall(SYS_landlock_create_ruleset, &landlock, sizeof landlock, 0);
  if (rules < 0) return;
  if (::syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_landlock_restrict_self, rules, 0) != 0)
    give_up(failure, "keeping to its own sockets");
  ::syscall(SYS_close, rules);
}

[[noreturn]] void run_child(const Prepared& prepared) {
  const SpawnRequest& request = prepared.request;
  reset_signals();
  ::syscall(SYS_setsid);  // this library handles a terminal's Ctrl-C
  const int failure = take_descriptors(prepared);
  if (!request.cores.empty()) stay_on(request.cores, failure);
  if (request.become_nobody) {
    if (!request.staged.empty()) stage(request.staged, failure);
    become_nobody(failure);
  }
  const char* folder = request.working_directory.empty() ? "/" : request.working_directory.c_str();
  if (::syscall(SYS_chdir, folder) != 0) give_up(failure, "entering the folder");
  for (const auto& [resource, value] : request.limits) {
    const rlimit limit{value, value};
    if (::syscall(SYS_prlimit64, 0, resource, &limit, nullptr) != 0) give_up(failure, "setting a limit");
  }
  if (request.own_sockets_only) keep_to_own_sockets(failure);
  ::syscall(SYS_execve, prepared.argv.front(), prepared.argv.data(), prepared.environment.data());
  give_up(failure, "executing the program");
}

// Calls `child`, which must not return, in a new process.
template <class Child>
Result<Spawned> clone_child(int cgroup, Child child) {
  int pidfd = -1;
  // No handler of this process may run in the child.
  std::uint64_t every = ~0ULL, before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every, &before, sizeof every);
  const pid_t pid = clone_process(
      cgroup, pidfd, [](void* run) { (*static_cast<Child*>(run))(); }, &child);
  const int number = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  errno = number;
  if (pid < 0) return system_error("a process could not be started", "clone3");
  return Spawned{pid, Descriptor(pidfd)};
}

/// Empty if the process did not exit by itself.
std::optional<int> exit_status_of(const Descriptor& pidfd) {
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED) != 0)
    if (errno != EINTR) return std::nullopt;
  if (info.si_code != CLD_EXITED) return std::nullopt;
  return info.si_status;
}

}  // namespace

Result<Spawned> spawn(const SpawnRequest& request) {
  if (request.descriptors.size() > kMostDescriptors || request.staged.size() > kMostDescriptors)
    return fail(ErrorCode::invalid_argument, "too many descriptors or binds for one sandbox");
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return system_error("a pipe could not be made");
  const Descriptor failure_read(pipe[0]);
  Descriptor failure_write(pipe[1]);
  const Prepared prepared{request, pointers_to(request.argv), pointers_to(request.environment), pipe[1]};

  Result<Spawned> child = clone_child(request.cgroup, [&] { run_child(prepared); });
  if (!child) return child.error();
  failure_write.reset();
  Failure failure{};
  ssize_t count = 0;
  do count = ::read(failure_read.get(), &failure, sizeof failure);
  while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(sizeof failure)) return child;

  exit_status_of(child->pidfd);
  errno = failure.number;
  return system_error(std::string("starting a sandbox failed at ") + failure.step, request.argv.front());
}

Status limit_processes(pid_t pid, std::uint64_t most) {
  const rlimit limit{most, most};
  if (::prlimit(pid, RLIMIT_NPROC, &limit, nullptr) == 0) return {};
  if (errno == EPERM && ::geteuid() == 0) {
    const Result<Spawned> helper = clone_child(-1, [&] {
      const bool done = ::syscall(SYS_setresgid, kNobody, kNobody, kNobody) == 0 &&
                        ::syscall(SYS_setresuid, kNobody, kNobody, kNobody) == 0 &&
                        ::syscall(SYS_prlimit64, pid, RLIMIT_NPROC, &limit, nullptr) == 0;
      ::syscall(SYS_exit_group, done ? 0 : errno);
    });
    if (!helper) return helper.error();
    const auto status = exit_status_of(helper->pidfd);
    if (status == 0) return {};
    if (!status) return fail(ErrorCode::tool_failed, "the helper that limits a sandbox's processes crashed");
    errno = *status;
  }
  return system_error("the number of a sandbox's processes could not be limited");
}

}  // namespace kernelsmith

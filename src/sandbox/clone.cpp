#include "clone.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith {

namespace {

clone_args arguments_for(int cgroup, int& pidfd) {
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup);
  }
  return arguments;
}

// Sanitizers do not support a second stack in the same thread.
#if defined(__x86_64__) && !defined(KERNELSMITH_SANITIZED)

constexpr std::size_t kStackBytes = 64UL << 10;
/// Bytes above the child's frames: a function may read where its arguments on the stack would be, as libc's
/// syscall() does when it is tail-called.
constexpr std::size_t kAboveFrames = 64;

// The child begins on a stack of its own, and must not return into this function's frame.
long clone_on_stack(clone_args& arguments, void (*child)(void*), void* argument) {
  long result = SYS_clone3;
  register void (*entry)(void*) asm("r8") = child;
  register void* given asm("r9") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r9, %%rdi\n\t"
      "call *%%r8\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "r"(entry), "r"(given)
      : "rcx", "r11", "memory", "cc");
  return result;
}

pid_t clone_sharing_memory(clone_args arguments, void (*child)(void*), void* argument) {
  void* const stack =
      ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  arguments.flags |= CLONE_VM | CLONE_VFORK;
  arguments.stack = reinterpret_cast<std::uintptr_t>(stack);
  arguments.stack_size = kStackBytes - kAboveFrames;
  // A child that changes its user makes the shared memory undumpable. That is correct until the child
  // executes a program, and is undone then. Only one child may run here at a time: otherwise it would be
  // undone while another child still shares this memory.
  static Mutex one_at_a_time;
  const MutexLock lock(one_at_a_time);
  const int dumpable = ::prctl(PR_GET_DUMPABLE);
  const long pid = clone_on_stack(arguments, child, argument);
  if (dumpable == 1) ::prctl(PR_SET_DUMPABLE, dumpable);
  ::munmap(stack, kStackBytes);
  if (pid < 0) errno = static_cast<int>(-pid);
  return pid < 0 ? -1 : static_cast<pid_t>(pid);
}

#else

pid_t clone_sharing_memory(clone_args arguments, void (*child)(void*), void* argument) {
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (pid == 0) child(argument);
  return pid;
}

#endif

}  // namespace

pid_t clone_process(int cgroup, int& pidfd, void (*child)(void*), void* argument) {
  return clone_sharing_memory(arguments_for(cgroup, pidfd), child, argument);
}

}  // namespace kernelsmith

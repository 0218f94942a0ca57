#include "seccomp.hpp"

#include <array>
#include <csignal>
#include <initializer_list>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace kernelsmith {

namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

constexpr std::uint32_t kDeny = SCMP_ACT_ERRNO(EPERM);
constexpr scmp_datum_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// MADV_COLLAPSE, F_SET_RW_HINT, F_SET_FILE_RW_HINT and the commands for record locks (F_GETLK to F_SETLKW,
/// F_OFD_GETLK to F_OFD_SETLKW), which headers may lack or have in two widths.
constexpr scmp_datum_t kCollapse = 25, kSetWriteHint = 1036, kSetFileWriteHint = 1038;
constexpr std::array<scmp_datum_t, 6> kRecordLocks = {5, 6, 7, 36, 37, 38};
constexpr scmp_datum_t kFirstRealTimeSignal = 32;
constexpr scmp_datum_t kScheduleCore = 62, kSetMemoryMerge = 67, kSetSpeculationControl = 53;

// Like the library's SCMP_A0, which is not valid C++.
scmp_arg_cmp argument(unsigned index, scmp_compare how, scmp_datum_t a, scmp_datum_t b = 0) {
  return {index, how, a, b};
}

bool deny_where(void* filter, std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> all) {
  return seccomp_rule_add_array(filter, action, call, static_cast<unsigned>(all.size()), all.begin()) == 0;
}

// A call whose name the library does not know is skipped: such calls are younger than libseccomp 2.5, and
// later rules deny them by number.
bool deny(void* filter, std::uint32_t action, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) continue;
    if (seccomp_rule_add(filter, action, number, 0) != 0) return false;
  }
  return true;
}

// Flags of clone3 are in memory, where a filter cannot look. glibc falls back to clone on ENOSYS.
bool deny_clone3(void* filter) {
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

// System calls added after this list was written have not been reviewed. Libraries work without them.
bool deny_the_unknown(void* filter) {
  constexpr int kFirst = 463, kEnd = 512;  // setxattrat; Linux numbers calls alike on all machines here
  for (int call = kFirst; call < kEnd; ++call)
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0) != 0) return false;
  return true;
}

// Denies calls that reveal any mount's file system, by number, because libseccomp 2.5 lacks their names.
bool deny_mounts(void* filter) {
  constexpr int kStatmount = 457, kListmount = 458;
  return seccomp_rule_add(filter, kDeny, kStatmount, 0) == 0 &&
         seccomp_rule_add(filter, kDeny, kListmount, 0) == 0;
}

bool deny_everywhere(void* filter) {
  bool done =
      deny(filter, kDeny,
           {"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
            "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "perf_event_open", "bpf",
            "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount",
            "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "add_key", "request_key", "keyctl",
            "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
            "swapon", "swapoff", "syslog", "acct", "quotactl", "quotactl_fd", "open_by_handle_at",
            "name_to_handle_at", "fanotify_init", "lookup_dcookie", "nfsservctl",
            // These calls reach any file system on the machine.
            "ustat", "sysfs", "uselib", "iopl", "ioperm", "settimeofday", "clock_settime", "clock_adjtime",
            "adjtimex", "personality", "modify_ldt"});
  done = done && deny_clone3(filter) && deny_mounts(filter) && deny_the_unknown(filter);
  for (scmp_datum_t bit = 1; bit <= kNewNamespaces; bit <<= 1)
    if (kNewNamespaces & bit)
      done = done && deny_where(filter, kDeny, SCMP_SYS(clone), {argument(0, SCMP_CMP_MASKED_EQ, bit, bit)});
  // Denies pushing characters into a terminal's input, and descriptors that send signals.
  for (const scmp_datum_t request : {scmp_datum_t{TIOCSTI}, scmp_datum_t{TIOCLINUX}, scmp_datum_t{FIOASYNC},
                                     scmp_datum_t{FIOSETOWN}, scmp_datum_t{SIOCSPGRP}})
    done = done &&
           deny_where(filter, kDeny, SCMP_SYS(ioctl), {argument(1, SCMP_CMP_MASKED_EQ, 0xffffffff, request)});
  return done;
}

// Not every address family knows network namespaces (AF_VSOCK reaches the host of a virtual machine).
bool deny_all_sockets_but_local(void* filter) {
  return deny_where(filter, kDeny, SCMP_SYS(socket), {argument(0, SCMP_CMP_NE, AF_UNIX)});
}

// Netlink is allowed, because name resolution uses it.
bool deny_all_sockets_but_the_internets(void* filter) {
  constexpr scmp_datum_t kFamilies = AF_NETLINK + 1;
  bool done = deny_where(filter, kDeny, SCMP_SYS(socket), {argument(0, SCMP_CMP_GE, kFamilies)});
  for (scmp_datum_t family = 0; family < kFamilies; ++family)
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
      done = done && deny_where(filter, kDeny, SCMP_SYS(socket), {argument(0, SCMP_CMP_EQ, family)});
  return done;
}

bool deny_command(void* filter, scmp_datum_t fcntl_command) {
  return deny_where(filter, kDeny, SCMP_SYS(fcntl),
                    {argument(1, SCMP_CMP_MASKED_EQ, 0xffffffff, fcntl_command)});
}

// Denies calls that could do work outside of timed calls, or evade the freezer and the clock. If no honest
// library uses a call, the program is killed, so that the verdict can name the reason.
bool deny_to_runners(void* filter, bool threads) {
  bool done = deny(filter, SCMP_ACT_KILL_PROCESS, {"fork", "vfork", "timer_create", "setitimer", "alarm"});
  done =
      done &&
      deny(filter, kDeny,
           {"timerfd_create", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
            "setpriority", "ioprio_set", "memfd_create", "memfd_secret", "socket", "socketpair",
            // These calls query the channel to the judge: its peer, and a counter shared by all.
            "getsockopt", "setsockopt", "getsockname", "getpeername", "setrlimit", "shmget", "msgget",
            "semget", "mq_open", "inotify_init", "inotify_init1", "pidfd_open", "pidfd_send_signal", "setsid",
            // The nodes in /dev are the host's, and everyone can read their times.
            "utimensat", "futimesat", "utimes", "utime", "setpgid", "rt_tgsigqueueinfo", "rt_sigqueueinfo",
            // Shared memory's policy outlives the process, and could carry results to the next.
            "mbind", "set_mempolicy", "set_mempolicy_home_node", "get_mempolicy", "migrate_pages",
            "move_pages", "remap_file_pages",
            // The pages of the host's libraries in memory could carry results too; only the host should
            // control them.
            "fadvise64", "readahead", "cachestat", "mincore", "preadv2", "pwritev2",
            // These calls make the host work, or take its locks.
            "sync", "syncfs", "sync_file_range", "io_setup", "flock",
            // Other sandboxes can read counters that the kernel keeps by user or for the whole machine.
            "pipe", "pipe2", "splice", "tee", "vmsplice", "mknod", "mknodat", "epoll_create", "epoll_create1",
            "sysinfo"});
  // The set of present pages of shared memory could carry results too; and mremap() could make a second
  // mapping that reaches past the end of the first.
  for (const scmp_datum_t advice :
       {scmp_datum_t{MADV_REMOVE}, scmp_datum_t{MADV_COLD}, scmp_datum_t{MADV_PAGEOUT}, kCollapse})
    done = done && deny_where(filter, kDeny, SCMP_SYS(madvise),
                              {argument(2, SCMP_CMP_MASKED_EQ, 0xffffffff, advice)});
  done = done && deny_where(filter, kDeny, SCMP_SYS(mremap), {argument(1, SCMP_CMP_EQ, 0)});
  // Denies exclusive cores, memory shared with all processes, and flushing of caches and predictors for the
  // next process.
  for (const scmp_datum_t option : {kScheduleCore, kSetMemoryMerge, kSetSpeculationControl})
    done = done &&
           deny_where(filter, kDeny, SCMP_SYS(prctl), {argument(0, SCMP_CMP_MASKED_EQ, 0xffffffff, option)});
  // Reading a limit is allowed; setting one is not.
  done = done && deny_where(filter, kDeny, SCMP_SYS(prlimit64), {argument(2, SCMP_CMP_NE, 0)});
  done = done && deny_where(filter, kDeny, SCMP_SYS(rt_sigaction),
                            {argument(0, SCMP_CMP_EQ, SIGCONT), argument(1, SCMP_CMP_NE, 0)});
  // A ready descriptor must not send a chosen signal, because SIGCONT would undo a SIGSTOP.
  for (const scmp_datum_t command :
       {scmp_datum_t{F_SETSIG}, scmp_datum_t{F_SETOWN}, scmp_datum_t{F_SETOWN_EX}, scmp_datum_t{F_NOTIFY},
        scmp_datum_t{F_SETLEASE},
        // The hint could leave a number for the next process on the object's file.
        kSetWriteHint, kSetFileWriteHint, scmp_datum_t{F_SETPIPE_SZ}})
    done = done && deny_command(filter, command);
  // Locks could encode any data in their offsets.
  for (const scmp_datum_t command : kRecordLocks) done = done && deny_command(filter, command);
  // Denies signals that are queued, because they are counted by user.
  for (const auto& [call, signal] : std::initializer_list<std::pair<int, unsigned>>{
           {SCMP_SYS(kill), 1}, {SCMP_SYS(tkill), 1}, {SCMP_SYS(tgkill), 2}})
    done = done && deny_where(filter, kDeny, call, {argument(signal, SCMP_CMP_GE, kFirstRealTimeSignal)});
  if (!threads) return done && deny(filter, SCMP_ACT_KILL_PROCESS, {"clone"});
  return done && deny_where(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone),
                            {argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
}

// Denies objects that outlive a program, or belong to another process of its user, if one sandbox serves
// several programs.
bool deny_to_commands(void* filter) {
  return deny(filter, kDeny, {"shmget", "msgget", "semget", "mq_open"}) &&
         deny_where(filter, kDeny, SCMP_SYS(prlimit64),
                    {argument(0, SCMP_CMP_NE, 0), argument(2, SCMP_CMP_NE, 0)});
}

bool add_rules(void* filter, SandboxProfile profile) {
  switch (profile) {
    case SandboxProfile::toolchain:
      return deny_everywhere(filter) && deny_all_sockets_but_local(filter);
    case SandboxProfile::command:
      return deny_everywhere(filter) && deny_all_sockets_but_local(filter) && deny_to_commands(filter);
    case SandboxProfile::online:
      return deny_everywhere(filter) && deny_all_sockets_but_the_internets(filter) &&
             deny_to_commands(filter);
    case SandboxProfile::runner:
      return deny_everywhere(filter) && deny_to_runners(filter, false);
    case SandboxProfile::runner_with_threads:
      return deny_everywhere(filter) && deny_to_runners(filter, true);
  }
  return false;
}

Descriptor compile(SandboxProfile profile) {
  const Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  if (!filter || !add_rules(filter.get(), profile)) return {};
  Descriptor file(::memfd_create("kernelsmith-seccomp", MFD_CLOEXEC));
  if (!file || seccomp_export_bpf(filter.get(), file.get()) != 0) return {};
  return file;
}

}  // namespace

Result<Descriptor> seccomp_filter(SandboxProfile profile) {
  static const std::array<Descriptor, 5> all = {
      compile(SandboxProfile::toolchain), compile(SandboxProfile::command), compile(SandboxProfile::runner),
      compile(SandboxProfile::runner_with_threads), compile(SandboxProfile::online)};
  const Descriptor& compiled = all.at(static_cast<std::size_t>(profile));
  if (!compiled)
    return fail(ErrorCode::unsupported, "the seccomp filter could not be compiled", "libseccomp");
  // The file is opened again, to have its own read position.
  Descriptor copy(::open(("/proc/self/fd/" + std::to_string(compiled.get())).c_str(), O_RDONLY | O_CLOEXEC));
  if (!copy) return system_error("the seccomp filter could not be opened");
  return copy;
}

}  // namespace kernelsmith

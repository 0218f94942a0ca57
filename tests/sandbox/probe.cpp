// A small program that the tests run inside a runner's sandbox. It tries the one thing that its argument
// names and tells, by its exit status, whether it was allowed: 0 done, 1 refused.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int told(bool done) { return done ? 0 : 1; }

int try_fork() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return told(child > 0);
}

int try_thread() try {
  std::thread([] {}).join();
  return 0;
} catch (const std::system_error&) {
  return 1;
}

int try_timer() {
  timer_t timer;
  return told(::timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0);
}

int try_interval_timer() {
  const itimerval value{{3600, 0}, {3600, 0}};  // beyond this process's end: its signal would kill
  return told(::setitimer(ITIMER_REAL, &value, nullptr) == 0);
}

int try_handler(int signal) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  return told(::sigaction(signal, &action, nullptr) == 0);
}

int try_signal_of_descriptor() { return told(::fcntl(1, F_SETSIG, SIGCONT) == 0); }

// Succeeds when it may use one processor only.
int on_one_processor() {
  cpu_set_t set;
  return told(::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1);
}

int try_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  return told(::sched_setaffinity(0, sizeof set, &set) == 0);
}

int try_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return 2;
  limit.rlim_cur = 65536;
  return told(::setrlimit(RLIMIT_STACK, &limit) == 0);
}

// Echoes what comes over descriptor 3, until that is closed.
int echo() {
  char byte = 0;
  while (::read(3, &byte, 1) == 1)
    if (::write(3, &byte, 1) != 1) return 1;
  return 0;
}

void* shared_page() {
  return ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

int try_memory_policy() {
  unsigned long first_node = 1;
  return told(::syscall(SYS_mbind, shared_page(), 4096, /* MPOL_BIND */ 2, &first_node, 64, 0) == 0);
}

int try_second_mapping() { return told(::mremap(shared_page(), 0, 4096, MREMAP_MAYMOVE) != MAP_FAILED); }

int try_page_removed() { return told(::madvise(shared_page(), 4096, MADV_REMOVE) == 0); }

int try_page_cache(const char* file) {
  return told(::posix_fadvise(::open(file, O_RDONLY), 0, 0, POSIX_FADV_NORMAL) == 0);
}

int try_note_at_file() {
  const int file = ::open("/tmp/own", O_RDWR | O_CREAT, 0600);
  std::uint64_t hint = 1;
  return told(::fcntl(file, /* F_SET_RW_HINT */ 1036, &hint) == 0);
}

int try_record_lock(int file, int command) {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  return told(::fcntl(file, command, &lock) == 0 || errno != EPERM);
}

int try_queued_signal() {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGRTMIN + 1);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  return told(::kill(::getpid(), SIGRTMIN + 1) == 0);
}

int try_pipe() {
  int ends[2];
  return told(::pipe(ends) == 0 || ::mkfifo("/tmp/fifo", 0600) == 0);
}

int try_machine_memory() {
  struct sysinfo all {};
  return told(::sysinfo(&all) == 0);
}

// For whichever device: the call must not exist, rather than know none of that number.
int try_file_systems() {
  char room[64];
  return told(::syscall(SYS_ustat, 1, room) == 0 || errno != EPERM);
}

int try_mounts() {
  constexpr long kListmount = 458;
  return told(::syscall(kListmount, nullptr, nullptr, 0, 0) == 0 || errno != EPERM);
}

int try_socket_cookie() {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return told(::getsockopt(3, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 || errno != EPERM);
}

/// Tries a number that kernels give to something young, or to nothing yet.
int try_unknown_call(long number) {
  return told(::syscall(number, 0, 0, 0, 0, 0, 0) == 0 || errno != ENOSYS);
}

int try_devices() {
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
    if (::access(device, F_OK) == 0) return told(true);
  return told(false);
}

int spin() {
  volatile unsigned long counter = 0;
  const char ready = 'r';
  if (::write(3, &ready, 1) != 1) return 1;
  for (;;) counter = counter + 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  if (what == "fork") return try_fork();
  if (what == "thread") return try_thread();
  if (what == "timer") return try_timer();
  if (what == "interval timer") return try_interval_timer();
  if (what == "SIGCONT handler") return try_handler(SIGCONT);
  if (what == "SIGUSR1 handler") return try_handler(SIGUSR1);
  if (what == "signal of a descriptor") return try_signal_of_descriptor();
  if (what == "device's time") return told(::utimensat(AT_FDCWD, "/dev/null", nullptr, 0) == 0);
  if (what == "memory policy") return try_memory_policy();
  if (what == "second mapping") return try_second_mapping();
  if (what == "page removed") return try_page_removed();
  if (what == "page cache") return try_page_cache(arguments[0]);
  if (what == "note at a file") return try_note_at_file();
  if (what == "record lock") return try_record_lock(0, F_SETLK);
  if (what == "waiting record lock") return try_record_lock(0, F_SETLKW);
  if (what == "question for a record lock") return try_record_lock(0, F_GETLK);
  if (what == "lock of an open file") return try_record_lock(0, F_OFD_SETLK);
  if (what == "queued signal") return try_queued_signal();
  if (what == "plain signal") return told(::kill(::getpid(), SIGWINCH) == 0);
  if (what == "pipe") return try_pipe();
  if (what == "pipe's size") return told(::fcntl(1, F_SETPIPE_SZ, 1 << 20) > 0);
  if (what == "epoll") return told(::epoll_create1(0) >= 0);
  if (what == "machine's memory") return try_machine_memory();
  if (what == "file systems") return try_file_systems();
  if (what == "mounts") return try_mounts();
  if (what == "socket's number") return try_socket_cookie();
  if (what == "younger call") return try_unknown_call(463);
  if (what == "devices") return try_devices();
  if (what == "disks flushed") return told(::syncfs(::open("/tmp", O_RDONLY)) == 0);
  if (what == "speculation")
    return told(::prctl(/* PR_SET_SPECULATION_CTRL, of nothing */ 53, 99, 2, 0, 0) == 0 || errno != EPERM);
  if (what == "shared core") return told(::prctl(/* PR_SCHED_CORE */ 62, 0, 0, 0, 0) == 0 || errno != EPERM);
  if (what == "merged memory")
    return told(::prctl(/* PR_SET_MEMORY_MERGE */ 67, 1, 0, 0, 0) == 0 || errno != EPERM);
  if (what == "affinity") return try_affinity();
  if (what == "one processor") return on_one_processor();
  if (what == "limit") return try_limit();
  if (what == "memfd") return told(::memfd_create("x", 0) >= 0);
  if (what == "socket") return told(::socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
  if (what == "shell") return told(::access("/usr/bin/sh", F_OK) == 0 || ::access("/bin/sh", F_OK) == 0);
  if (what == "echo") return echo();
  if (what == "spin") return spin();
  return 2;
}

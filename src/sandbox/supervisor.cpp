#include "supervisor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <functional>
#include <sstream>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <kernelsmith/sandbox/forker.hpp>

#include "bubblewrap.hpp"
#include "seccomp.hpp"

namespace kernelsmith {

namespace {

using Clock = std::chrono::steady_clock;

/// A killed sandbox ends within milliseconds. After this time its monitor, which may be stopped, is killed
/// too.
constexpr std::chrono::seconds kEndsWithin(2);
/// What still exists after this time is held by the kernel, and we stop waiting.
constexpr std::chrono::seconds kPatience(20);

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

int ms(Clock::duration duration) {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("a pipe could not be made");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void signal_event(const Descriptor& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof one);
}

void kill_by(const Descriptor& pidfd) { ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0); }

/// The Error for a killed process that still exists, with the kernel's state of it.
Error not_ended(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid), stat = read_small_file(process + "/stat");
  const std::size_t name_end = std::min(stat.rfind(") "), stat.size());
  return fail(ErrorCode::timeout,
              "a sandbox was killed and did not end within " + std::to_string(kPatience.count()) +
                  " s: its process " + std::to_string(pid) + " is in state " +
                  stat.substr(name_end).substr(0, 3) + ", in the kernel's " +
                  read_small_file(process + "/wchan"),
              process, "see `dmesg`; if the kernel holds the process, only a restart ends it");
}

// The integer after `"key": ` in bubblewrap's status lines.
std::optional<int> status_number(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  int number = 0;
  const char* from = text.data() + at + key.size();
  const auto parsed = std::from_chars(from, text.data() + text.size(), number);
  // A number at the very end may not be complete yet.
  if (parsed.ec != std::errc() || parsed.ptr == text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads available data. False at the end of the stream.
template <class Take>
bool read_available(const Descriptor& pipe, Take take) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(pipe.get(), buffer.data(), buffer.size());
  if (count > 0) take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

Error setup_error(const std::string& message) {
  const bool forbidden =
      message.find("ermission") != std::string::npos || message.find("namespace") != std::string::npos;
  if (message.find("execvp") != std::string::npos)
    return fail(ErrorCode::not_found,
                "the program could not be started in its sandbox: " + escape_controls(message));
  return fail(forbidden ? ErrorCode::unsupported : ErrorCode::tool_failed,
              "the sandbox could not be set up: " + escape_controls(message), "bwrap",
              "see `kernelsmith doctor`; in a container, user namespaces must be allowed "
              "(docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)");
}

}  // namespace

Supervisor::Supervisor(SandboxSpec spec, Cgroup* cgroup)
    : spec_(std::move(spec)),
      cgroup_(cgroup),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      out_(spec_.limits.kept_output_bytes),
      err_(spec_.limits.kept_output_bytes) {}

void Supervisor::request_kill() { signal_event(wake_); }

Status Supervisor::prepare_pipes(SpawnRequest& request) {
  // `request` owns the child's ends until start() closes them. Standard input ends at once. It is not
  // /dev/null, whose inode all sandboxes would share.
  Result<Pipe> in = make_pipe(), out = make_pipe(), err = make_pipe(), status = make_pipe(),
               release = make_pipe();
  if (!wake_ || !in || !out || !err || !status || !release)
    return system_error("the sandbox's pipes could not be made");
  in->write.reset();
  for (const Pipe& read_here : {std::cref(*out), std::cref(*err), std::cref(*status)})
    ::fcntl(read_here.read.get(), F_SETFL, O_NONBLOCK);
  out_pipe_ = std::move(out->read);
  err_pipe_ = std::move(err->read);
  request.descriptors.insert(request.descriptors.end(),
                             {{in->read.get(), 0}, {out->write.get(), 1}, {err->write.get(), 2}});

  const bool confined = spec_.confinement == Confinement::sandboxed;
  Descriptor filter;
  if (confined) {
    Result<Descriptor> compiled = seccomp_filter(spec_.profile);
    if (!compiled) return compiled.error();
    filter = std::move(*compiled);
    status_pipe_ = std::move(status->read);
    // init holds both ends: if this process died now, init would wait for ever instead of running
    // unsupervised.
    release_ = std::move(release->write);
    request.descriptors.insert(request.descriptors.end(), {{status->write.get(), kStatusDescriptor},
                                                           {filter.get(), kSeccompDescriptor},
                                                           {release->read.get(), kReleaseDescriptor},
                                                           {release_.get(), kReleaseKeptDescriptor}});
  }
  Result<Spawned> child = spec_.forker ? fork(request) : spawn(request);
  if (!child) return child.error();
  child_ = std::move(*child);
  return {};
}

Result<Spawned> Supervisor::fork(const SpawnRequest& request) {
  const auto pid = spec_.forker->fork(request.argv, request.descriptors,
                                      cgroup_ != nullptr ? cgroup_->path() : std::filesystem::path());
  if (!pid) return pid.error();
  Spawned child{*pid, Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)))};
  if (!child.pidfd) return system_error("a forked process cannot be watched", request.argv.front());
  return child;
}

Status Supervisor::start() {
  SpawnRequest request;
  const bool confined = spec_.confinement == Confinement::sandboxed;
  if (Status done = confined ? describe_to_bubblewrap(spec_, request) : describe_unconfined(spec_, request);
      !done)
    return done;
  if (cgroup_ != nullptr) request.cgroup = cgroup_->descriptor();
  request.cores = spec_.cores;
  limit_memory();
  if (spec_.limits.gives_way) give_way();
  return prepare_pipes(request);
}

// A runner is one process, which its address space limits. Moving a compiler into a v1 group would cost more
// than most compilations.
void Supervisor::limit_memory() {
  const std::uint64_t bytes = spec_.limits.memory_bytes;
  if (bytes == 0 || (cgroup_ != nullptr && cgroup_->limit_memory(bytes))) return;
  const bool is_command = spec_.profile == SandboxProfile::command || spec_.profile == SandboxProfile::online;
  if (is_command && spec_.confinement == Confinement::sandboxed) memory_ = V1Group::with_memory(bytes);
}

void Supervisor::give_way() {
  if (cgroup_ == nullptr || !cgroup_->give_way()) processors_ = V1Group::giving_way();
}

Result<SandboxResult> Supervisor::watch() {
  const auto started = looked_at_ = Clock::now();
  const double limit_s = spec_.limits.wall_s;
  while (!over_) {
    wall_s_ = std::chrono::duration<double>(Clock::now() - started).count();
    if (limit_s > 0 && wall_s_ >= limit_s) end_with(ExitKind::wall_limit);
    wait_and_read(patience_ms(started));
    press_on();
    if (stands_still()) {
      failure_ = fail(ErrorCode::busy,
                      spec_.argv.front() + " got no processor time for " +
                          std::to_string(static_cast<int>(spec_.limits.still_s)) + " s",
                      {}, "let fewer programs run beside kernelsmith");
      end_with(ExitKind::killed);
    }
    const std::uint64_t printed = out_.seen() + err_.seen();
    if (spec_.limits.output_bytes > 0 && printed > spec_.limits.output_bytes)
      end_with(ExitKind::output_limit);
  }
  wall_s_ = std::chrono::duration<double>(Clock::now() - started).count();
  drain();
  return conclude();
}

int Supervisor::wait_and_read(int timeout_ms) {
  // poll() skips negative descriptors.
  std::array<pollfd, 5> watched = {pollfd{child_.pidfd.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0},
                                   pollfd{out_pipe_.get(), POLLIN, 0}, pollfd{err_pipe_.get(), POLLIN, 0},
                                   pollfd{status_pipe_.get(), POLLIN, 0}};
  const int count = ::poll(watched.data(), watched.size(), timeout_ms);
  if (count <= 0) return count;
  if (watched[4].revents != 0) read_status();
  if (watched[2].revents != 0 &&
      !read_available(out_pipe_, [this](std::string_view bytes) { out_.add(bytes); }))
    out_pipe_.reset();
  if (watched[3].revents != 0 &&
      !read_available(err_pipe_, [this](std::string_view bytes) { err_.add(bytes); }))
    err_pipe_.reset();
  if (watched[1].revents != 0) {
    std::uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &ignored, sizeof ignored);
    end_with(ExitKind::killed);
  }
  if (watched[0].revents != 0) reap();
  return count;
}

void Supervisor::read_status() {
  if (!read_available(status_pipe_, [this](std::string_view bytes) { status_ += bytes; }))
    status_pipe_.reset();
  if (init_pidfd_) return;
  if (const auto init = status_number(status_, "\"child-pid\": ")) set_up_init(*init);
}

// The sandbox's init waits to be released. Limits on processes can only be set now, inside its user
// namespace, where no other processes count.
void Supervisor::set_up_init(pid_t init) {
  init_pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, init, 0)));
  init_pid_ = init;
  if (verdict_) {
    kill_everything();
    return;
  }
  const bool may_multiply = spec_.profile != SandboxProfile::runner;
  if (may_multiply && spec_.limits.processes > 0) {
    // One of the processes is the sandbox's init.
    if (Status limited = limit_processes(init, spec_.limits.processes + 1); !limited)
      failure_ = limited.error();
  }
  // If init has ended (ESRCH), it has already reported the reason.
  if (memory_ && !memory_->add(init) && errno != ESRCH)
    failure_ = system_error("a sandbox's memory could not be limited");
  if (processors_ && !processors_->add(init) && errno != ESRCH)
    failure_ = system_error("a sandbox could not be made to give way");
  if (failure_) {
    end_with(ExitKind::killed);
    return;
  }
  [[maybe_unused]] const ssize_t written = ::write(release_.get(), "", 1);
}

void Supervisor::end_with(ExitKind kind) {
  if (verdict_) return;
  verdict_ = kind;
  killed_at_ = Clock::now();
  kill_everything();
}

bool Supervisor::stands_still() {
  const auto now = Clock::now();
  if (!watches_stillness() || verdict_ || over_ || now < looked_at_ + seconds(spec_.limits.still_s))
    return false;
  looked_at_ = now;
  const auto used_us = cgroup_->cpu_time_us();
  return used_us && *used_us == std::exchange(used_us_, *used_us);
}

// The time until the next action if nothing happens.
int Supervisor::patience_ms(Clock::time_point started) const {
  auto next = Clock::now() + std::chrono::hours(1);  // poll() accepts at most some weeks
  const auto consider = [&next](Clock::time_point moment) { next = std::min(next, moment); };
  if (verdict_) {
    consider(killed_at_ + (pressed_ ? kPatience : kEndsWithin));
  } else {
    if (spec_.limits.wall_s > 0) consider(started + seconds(spec_.limits.wall_s));
    if (watches_stillness()) consider(looked_at_ + seconds(spec_.limits.still_s));
  }
  return std::max(0, ms(next - Clock::now()));
}

// A stopped monitor neither reports about its init nor reaps it.
void Supervisor::press_on() {
  if (!verdict_ || over_ || Clock::now() < killed_at_ + kEndsWithin) return;
  if (!std::exchange(pressed_, true)) {
    const std::string monitor = std::to_string(child_.pid);
    std::istringstream children(read_small_file("/proc/" + monitor + "/task/" + monitor + "/children"));
    for (pid_t child = 0; children >> child;)
      kill_by(Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))));
    kill_by(child_.pidfd);
    if (cgroup_ != nullptr) cgroup_->thaw_for_good();
  }
  if (Clock::now() < killed_at_ + kPatience) return;
  failure_ = not_ended(child_.pid);
  over_ = true;
}

// Killing the namespace's init makes the kernel kill all its processes. The monitor, its parent, is kept to
// reap it, because not every machine's first process reaps orphans. While init's id is unknown, init is
// blocked, and set_up_init() will return here.
void Supervisor::kill_everything() {
  if (unconfined()) {
    if (cgroup_ != nullptr) cgroup_->kill();
    ::kill(-child_.pid, SIGKILL);
    kill_by(child_.pidfd);  // a forked program may not have a session of its own yet
  } else if (init_pidfd_) {
    kill_by(init_pidfd_);
    if (cgroup_ != nullptr) cgroup_->thaw_for_good();
  }
}

void Supervisor::reap() {
  over_ = true;
  if (cgroup_ != nullptr) cgroup_->kill();
  if (unconfined()) ::kill(-child_.pid, SIGKILL);
  siginfo_t info{};
  // The status has a shell's form, because bubblewrap passes on its program's status in this form.
  if (spec_.forker)
    monitor_status_ = spec_.forker->reap(child_.pid);
  else if (::waitid(P_PIDFD, static_cast<id_t>(child_.pidfd.get()), &info, WEXITED) == 0)
    monitor_status_ = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  if (!init_pidfd_) return;
  // If the monitor was killed, its init dies by itself, a moment later.
  kill_by(init_pidfd_);
  pollfd end{init_pidfd_.get(), POLLIN, 0};
  const auto limit = Clock::now() + kPatience;
  int ended = 0;
  do ended = ::poll(&end, 1, std::max(0, ms(limit - Clock::now())));
  while (ended < 0 && errno == EINTR);
  if (ended == 0) failure_ = not_ended(init_pid_);
}

// Every writer has ended, and the rest in the pipes is bounded by their size. Daemons of an unsandboxed
// program may live on, so we do not wait for the end of the stream.
void Supervisor::drain() {
  const auto rest = [](Descriptor& pipe, auto take) {
    while (pipe) {
      bool any = false;
      if (!read_available(pipe, [&](std::string_view bytes) { any = true, take(bytes); }) || !any)
        pipe.reset();
    }
  };
  rest(status_pipe_, [this](std::string_view bytes) { status_ += bytes; });
  const std::uint64_t most = spec_.limits.output_bytes;
  rest(out_pipe_, [this](std::string_view bytes) { out_.add(bytes); });
  rest(err_pipe_, [this](std::string_view bytes) { err_.add(bytes); });
  if (most > 0 && out_.seen() + err_.seen() > most && !verdict_) verdict_ = ExitKind::output_limit;
}

Result<SandboxResult> Supervisor::conclude() {
  SandboxResult result;
  result.out_truncated = out_.truncated();
  result.err_truncated = err_.truncated();
  result.out = out_.take();
  result.err = err_.take();
  result.wall_s = wall_s_;

  const bool confined = spec_.confinement == Confinement::sandboxed;
  const std::optional<int> reported = confined ? status_number(status_, "\"exit-code\": ") : monitor_status_;
  const bool starved =
      (memory_ && memory_->out_of_memory()) || (cgroup_ != nullptr && cgroup_->out_of_memory());
  if (failure_) return *failure_;
  if (!verdict_ && !reported && !monitor_status_)
    return fail(ErrorCode::tool_failed,
                "it is unknown how a sandbox ended: other code has waited for its process", {},
                "this process must not ignore SIGCHLD, nor wait for children that it did not start");
  const int code = reported.value_or(monitor_status_.value_or(0));
  if (verdict_) {
    result.kind = *verdict_;
  } else if (starved && code != 0) {
    result.kind = ExitKind::memory_limit;
  } else if (!reported && code < 128) {
    return setup_error(result.err);
  } else {
    result.kind = code > 128 && code < 128 + 65 ? ExitKind::signalled : ExitKind::exited;
    result.code = result.kind == ExitKind::signalled ? code - 128 : code;
  }
  return result;
}

}  // namespace kernelsmith

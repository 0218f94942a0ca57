#include "runner/runner_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "clock/cores.hpp"
#include "runner/protocol.hpp"

namespace kernelsmith::cpu {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// The limit for the clock's total advance while the object is frozen: microseconds or a fraction of all its
/// CPU time, whichever is more. If a hypervisor takes the core away at the moment of freezing, that time is
/// counted here.
constexpr double kIdleAllowanceUs = 20000;
constexpr double kIdleAllowance = 0.05;
/// The time within which the end of a process is noticed.
constexpr std::chrono::seconds kGrace(2);
/// The longest time that another kernelsmith may time a batch on the reserved cores.
constexpr std::chrono::seconds kPatience(120);
constexpr const char* kObjectInside = "/tmp/kernel.so";
constexpr const char* kRunnerInside = "/kernelsmith-runner";
/// The bytes that a candidate may write into /tmp.
constexpr std::uint64_t kFileBytes = 16ULL << 20;

double us_since(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::micro>(SteadyClock::now() - start).count();
}

SandboxSpec spec_for(const Arena& arena, const RunnerSettings& settings, int control) {
  SandboxSpec spec;
  spec.argv = {kRunnerInside, kObjectInside};
  const std::vector<std::string>& usual = settings.files->usual_libraries();
  spec.argv.insert(spec.argv.end(), usual.begin(), usual.end());
  if (settings.unsandboxed) spec.argv = {settings.files->program().string()};
  spec.environment = {{"LC_ALL", "C"}, {"OMP_NUM_THREADS", std::to_string(settings.threads)}};
  if (!settings.unsandboxed) settings.files->show_in(spec, kRunnerInside);
  spec.working_directory = "/tmp";
  spec.limits.wall_s = 3600;  // the judge's own deadlines are shorter
  spec.limits.memory_bytes = static_cast<std::uint64_t>(settings.memory_bytes) + arena.bytes();
  spec.limits.processes = static_cast<std::uint64_t>(settings.threads) * 2 + 8;
  spec.limits.open_files = 64;
  spec.limits.output_bytes = 1ULL << 20;
  spec.limits.kept_output_bytes = 4096;
  spec.limits.file_bytes = runner::kMaxObjectBytes;
  spec.limits.tmp_bytes = runner::kMaxObjectBytes + kFileBytes;
  spec.limits.shm_bytes = kFileBytes;
  if (settings.cores) spec.cores = settings.cores->numbers();
  spec.descriptors = {{control, runner::kControlDescriptor},
                      {arena.inputs(), runner::kInputsDescriptor},
                      {arena.outputs(), runner::kOutputsDescriptor}};
  spec.cgroup = settings.cgroup;
  spec.profile = settings.threads > 1 ? SandboxProfile::runner_with_threads : SandboxProfile::runner;
  spec.confinement = settings.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;
  return spec;
}

Failure forged(const std::string& what) {
  return reject(Stage::integrity, RejectionCode::protocol_forged,
                "the runner's channel carried " + what + ": only the runner may write to it");
}

/// The Error for a runner that is not ready. No candidate is loaded yet, so a rejection would mislead.
Error not_ready(const Failure& failure, const RunnerSettings& settings) {
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  const auto& rejection = std::get<Rejection>(failure);
  if (rejection.code == RejectionCode::timed_out)
    return fail(ErrorCode::busy,
                "kernelsmith-runner was not ready in its sandbox within " +
                    std::to_string(std::lround(settings.load_timeout_s)) + " s",
                {}, "run fewer other programs on this machine");
  const std::string& words = rejection.diagnostics;
  const std::string said = words.substr(std::min(words.find("\nstderr: "), words.size()));
  return fail(ErrorCode::tool_failed, "the program kernelsmith-runner does not start" + said,
              settings.files->program(), "install kernelsmith again, or set KERNELSMITH_RUNNER to its path");
}

/// The rejection for a program that ended without a reply.
Failure failure_of(const SandboxResult& result, bool loading) {
  const std::string tail = escape_controls(result.err);
  const std::string said = tail.empty() ? "" : "\nstderr: " + tail;
  const std::string when = loading ? " while the object was loaded" : " during a call";
  if (result.kind == ExitKind::memory_limit)
    return reject(Stage::run, RejectionCode::out_of_memory, "the memory limit was exceeded" + when + said);
  if (result.kind == ExitKind::output_limit)
    return reject(Stage::integrity, RejectionCode::sandbox_violation, "more than 1 MB was printed" + when);
  if (result.kind == ExitKind::signalled && result.code == SIGSYS)
    return reject(Stage::integrity, RejectionCode::sandbox_violation,
                  "a forbidden system call was made" + when +
                      " (to start a process or a thread beyond the task's `threads`, or to open a socket, "
                      "for instance)" +
                      said);
  if (result.kind == ExitKind::signalled) {
    const bool outside = !loading && (result.code == SIGSEGV || result.code == SIGBUS);
    const std::string hint = outside ? " (a page behind each tensor is forbidden)" : "";
    return reject(Stage::run, RejectionCode::crashed, describe(result) + when + hint + said);
  }
  if (loading && result.code == 1)
    return reject(Stage::run, RejectionCode::load_failed, "the object cannot be loaded" + said);
  return reject(Stage::run, RejectionCode::exited,
                "the process ended by itself (" + describe(result) + ")" + when + said);
}

}  // namespace

Error trusted_failure(const Failure& failure, const std::string& what, const std::string& where) {
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  const Rejection& rejection = std::get<Rejection>(failure);
  const bool crashed = rejection.code == RejectionCode::crashed;
  return fail(ErrorCode::refused, what + ": " + rejection.diagnostics, where,
              crashed ? "call it yourself with tensors of these sizes, built with -fsanitize=address" : "");
}

RunnerProcess::RunnerProcess(SandboxedProcess process, RunnerChannel channel, const RunnerSettings& settings)
    : process_(std::make_unique<SandboxedProcess>(std::move(process))),
      channel_(std::move(channel)),
      cores_(settings.cores),
      core_(settings.core),
      load_timeout_s_(settings.load_timeout_s) {}

Result<RunnerProcess> RunnerProcess::start(const Arena& arena, const RunnerSettings& settings) {
  auto ends = RunnerChannel::create();
  if (!ends) return ends.error();
  const Descriptor theirs = std::move(ends->second);
  auto process = SandboxedProcess::start(spec_for(arena, settings, theirs.get()));
  if (!process) return process.error();

  RunnerProcess runner(std::move(*process), std::move(ends->first), settings);
  if (const auto ready = runner.await_answer(settings.load_timeout_s); !ready)
    return not_ready(ready.error(), settings);
  auto clock = ProcessClock::of(*runner.process_);
  if (!clock) return not_ready(runner.clock_failed(clock.error()), settings);
  runner.clock_ = std::move(*clock);
  if (const auto pid = runner.process_->program_pid()) {
    runner.program_file_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  }
  return runner;
}

bool RunnerProcess::kill_program() const {
  const int file = program_file_.get();
  return file >= 0 && ::syscall(SYS_pidfd_send_signal, file, SIGKILL, nullptr, 0) == 0;
}

void RunnerProcess::await_end() const {
  pollfd end{program_file_.get(), POLLIN, 0};
  const int patience_ms = static_cast<int>(std::chrono::milliseconds(kGrace).count());
  while (::poll(&end, 1, patience_ms) < 0 && errno == EINTR) {
  }
}

Judged<void> RunnerProcess::load(const std::filesystem::path& object) {
  const Descriptor file(::open(object.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0)
    return Failure(
        fail(ErrorCode::io, std::string("an object cannot be read: ") + std::strerror(errno), object));
  if (!channel_.load(file.get())) return why_it_ended();
  if (const auto loaded = await_answer(load_timeout_s_); !loaded) return loaded.error();
  loading_ = false;
  const auto now = stop_and_read();
  if (!now) return now.error();
  frozen_at_us_ = *now;
  // The runner is bound only now, because runners that load at the same time would wait for the same core.
  if (core_ && !core_->number().empty() && !bind_to(clock_->threads(), core_->number()))
    return clock_failed(fail(ErrorCode::io, "the runner cannot be bound to a core"));
  if (cores_) static_cast<void>(ReservedCores::put_first(clock_->threads()));
  return {};
}

Judged<BatchClock> RunnerProcess::call(std::size_t calls, double timeout_s) {
  if (!cores_) return answer(calls, timeout_s);
  const auto hold = cores_->hold(kPatience);
  if (!hold) return Failure(hold.error());
  return answer(calls, timeout_s);
}

Judged<BatchClock> RunnerProcess::answer(std::size_t calls, double timeout_s) {
  if (auto idle = charge_idle_time(); !idle) return idle.error();
  const auto start = SteadyClock::now();
  if (!channel_.request(calls)) return why_it_ended();
  if (auto s = clock_->thaw(); !s) return clock_failed(s.error());
  if (const auto reply = await_answer(timeout_s); !reply) return reply.error();
  const auto after = stop_and_read();
  if (!after) return after.error();
  // The wall time ends here and not at the reply, because helpers may still work after the reply.
  const double wall_us = us_since(start);
  // CPU time since the last batch is charged to this one.
  const double used_us = *after - frozen_at_us_;
  frozen_at_us_ = *after;

  if (channel_.has_more()) return forged("more than one reply");
  return BatchClock{used_us, wall_us};
}

Judged<void> RunnerProcess::charge_idle_time() {
  const auto before = clock_->cpu_us();
  if (!before) return clock_failed(before.error());
  idle_us_ += *before - frozen_at_us_;
  if (idle_us_ > std::max(kIdleAllowanceUs, kIdleAllowance * *before))
    return reject(Stage::integrity, RejectionCode::background_work,
                  "CPU time was used while the candidate was frozen");
  return {};
}

Judged<double> RunnerProcess::stop_and_read() {
  auto frozen = clock_->freeze();
  if (!frozen && frozen.error().code == ErrorCode::timeout && process_->alive()) {
    // A runner that has replied waits for the next request, and is idle as soon as it gets CPU time.
    const auto before = clock_->cpu_us();
    frozen = clock_->freeze();
    if (!frozen && process_->alive()) return who_did_not_stop(before);
  }
  if (!frozen) return clock_failed(frozen.error());
  const auto now = clock_->cpu_us();
  if (!now) return clock_failed(now.error());
  return *now;
}

Failure RunnerProcess::who_did_not_stop(const Result<double>& before_us) {
  const auto after_us = clock_->cpu_us();
  if (before_us && after_us && *after_us > *before_us)
    return reject(Stage::integrity, RejectionCode::background_work,
                  "the candidate kept the kernel busy after its reply, and could not be frozen");
  return fail(ErrorCode::busy, "a process got no processor time for 4 s, and could not be frozen", {},
              "run fewer other programs on this machine");
}

/// The candidate is at fault if its process has ended or is being killed for its output, otherwise the
/// machine.
Failure RunnerProcess::clock_failed(const Error& error) {
  return process_->wait_for(kGrace) ? why_it_ended() : Failure(error);
}

Judged<void> RunnerProcess::await_answer(double timeout_s) {
  const auto message = channel_.listen(timeout_s, process_->exit_descriptor());
  if (!message) return Failure(message.error());
  switch (message->kind) {
    case RunnerMessage::Kind::answer:
      return {};
    case RunnerMessage::Kind::input_written:
      return reject(
          Stage::integrity, RejectionCode::input_modified,
          "the kernel wrote into the read-only memory of the inputs: to an input, or far beyond an output");
    case RunnerMessage::Kind::forged:
      return forged(message->what);
    case RunnerMessage::Kind::nothing:
      return past_deadline(timeout_s);
    case RunnerMessage::Kind::load_failed:
    case RunnerMessage::Kind::ended:
      break;
  }
  return why_it_ended();
}

Failure RunnerProcess::past_deadline(double timeout_s) {
  // The object may occupy every core and block the thread that has to kill its process.
  if (cores_ && !loading_) static_cast<void>(clock_->freeze());
  process_->kill();
  if (const auto ended = process_->wait(); !ended) return Failure(ended.error());
  std::ostringstream words;
  words << (loading_ ? "loading the object took longer than " : "the call did not return within ")
        << timeout_s << " s";
  return reject(Stage::run, RejectionCode::timed_out, words.str());
}

/// The failure for a broken channel: the process has ended or is about to end.
Failure RunnerProcess::why_it_ended() {
  if (!loading_) static_cast<void>(clock_->thaw());
  const auto ended = process_->wait_for(kGrace);
  if (!ended) {
    process_->kill();
    if (const auto killed = process_->wait(); !killed) return Failure(killed.error());
    return forged("an end of file while the runner was still running");
  }
  if (!*ended) return ended->error();
  return failure_of(**ended, loading_);
}

}  // namespace kernelsmith::cpu

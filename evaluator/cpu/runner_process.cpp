#include "runner_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <kernelsmith/sandbox/files.hpp>

#include "protocol.hpp"

namespace kernelsmith {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// What the clock may advance in all while the object is frozen, in microseconds and as a fraction of what it
/// used otherwise: where a hypervisor takes the core away in the instant of freezing, its time lands there.
constexpr double kIdleAllowanceUs = 20000;
constexpr double kIdleAllowance = 0.05;
constexpr const char* kObjectInside = "/kernel.so";
constexpr const char* kRunnerInside = "/kernelsmith-runner";

double us_since(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::micro>(SteadyClock::now() - start).count();
}

SandboxSpec spec_for(const std::filesystem::path& object, const Arena& arena, const RunnerSettings& settings,
                     int control) {
  SandboxSpec spec;
  spec.argv = {kRunnerInside, kObjectInside};
  if (settings.unsandboxed) spec.argv = {settings.program.string(), object.string()};
  spec.read_only = {{settings.program, kRunnerInside}, {object, kObjectInside}};
  spec.environment = {{"LC_ALL", "C"}, {"OMP_NUM_THREADS", std::to_string(settings.threads)}};
  add_libraries(spec);
  spec.working_directory = "/tmp";
  spec.limits.wall_s = 3600;  // the judge's own deadlines are shorter
  spec.limits.memory_bytes = static_cast<std::uint64_t>(settings.memory_bytes) + arena.bytes();
  spec.limits.processes = static_cast<std::uint64_t>(settings.threads) * 2 + 8;
  spec.limits.open_files = 64;
  spec.limits.output_bytes = 1ULL << 20;
  spec.limits.kept_output_bytes = 4096;
  spec.limits.file_bytes = 16ULL << 20;
  spec.limits.tmp_bytes = 16ULL << 20;
  spec.limits.shm_bytes = 16ULL << 20;
  spec.descriptors = {{control, runner::kControlDescriptor},
                      {arena.inputs(), runner::kInputsDescriptor},
                      {arena.outputs(), runner::kOutputsDescriptor}};
  spec.profile = settings.threads > 1 ? SandboxProfile::runner_with_threads : SandboxProfile::runner;
  spec.confinement = settings.unsandboxed ? Confinement::unsandboxed : Confinement::sandboxed;
  return spec;
}

Failure forged(const char* what) {
  return reject(Stage::integrity, RejectionCode::protocol_forged,
                std::string("the runner's channel carried ") + what + ": only the runner may write to it");
}

std::uint64_t secret_number() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

/// Ended without a reply: whose fault, in the words of the rejection.
Failure verdict_on(const SandboxResult& result, bool loading) {
  const std::string tail = escape_controls(result.err);
  const std::string said = tail.empty() ? "" : "\nstderr: " + tail;
  const std::string when = loading ? " while the object was loaded" : " during a call";
  if (result.kind == ExitKind::memory_limit)
    return reject(Stage::run, RejectionCode::out_of_memory, "the memory limit was exceeded" + when + said);
  if (result.kind == ExitKind::output_limit)
    return reject(Stage::integrity, RejectionCode::sandbox_violation, "too much was printed" + when);
  if (result.kind == ExitKind::signalled && result.code == SIGSYS)
    return reject(Stage::integrity, RejectionCode::sandbox_violation,
                  "a forbidden system call was made" + when + said);
  if (result.kind == ExitKind::signalled) {
    const std::string hint = result.code == SIGSEGV || result.code == SIGBUS
                                 ? " (inputs are read-only, and a page behind each tensor is forbidden)"
                                 : "";
    return reject(Stage::run, RejectionCode::crashed, describe(result) + when + hint + said);
  }
  if (loading && result.code == 1)
    return reject(Stage::run, RejectionCode::load_failed, "the object cannot be loaded" + said);
  return reject(Stage::run, RejectionCode::exited,
                "the process ended by itself (" + describe(result) + ")" + when + said);
}

}  // namespace

RunnerProcess::RunnerProcess(SandboxedProcess process, FileDescriptor control)
    : process_(std::make_unique<SandboxedProcess>(std::move(process))), control_(std::move(control)) {}

Judged<RunnerProcess> RunnerProcess::start(const std::filesystem::path& object, const Arena& arena,
                                           const RunnerSettings& settings) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return Failure(fail(ErrorCode::io, std::string("socketpair: ") + std::strerror(errno)));
  FileDescriptor mine(pair[0]);
  const FileDescriptor theirs(pair[1]);
  auto process = SandboxedProcess::start(spec_for(object, arena, settings, theirs.get()));
  if (!process) return Failure(process.error());

  RunnerProcess runner(std::move(*process), std::move(mine));
  const auto loaded = runner.await_reply(settings.load_timeout_s, 0);
  if (!loaded) return loaded.error();
  auto clock = ProcessClock::of(*runner.process_);
  if (!clock) return Failure(clock.error());
  runner.clock_ = std::move(*clock);
  const auto now = runner.stop_and_read();
  if (!now) return now.error();
  runner.frozen_at_us_ = *now;
  return runner;
}

Judged<BatchClock> RunnerProcess::call(std::size_t calls, double timeout_s) {
  const auto before = clock_->cpu_us();
  if (!before) return Failure(before.error());
  idle_us_ += *before - frozen_at_us_;
  if (idle_us_ > std::max(kIdleAllowanceUs, kIdleAllowance * *before))
    return reject(Stage::integrity, RejectionCode::background_work,
                  "CPU time was used while the candidate was frozen");
  nonce_ = secret_number();
  const runner::Request request{runner::kMagic, static_cast<std::uint32_t>(calls), nonce_};
  if (::send(control_.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request) return why_it_ended();

  const auto start = SteadyClock::now();
  if (auto s = clock_->thaw(); !s) return Failure(s.error());
  const auto reply = await_reply(timeout_s, nonce_);
  const double wall_us = us_since(start);
  if (!reply) return reply.error();
  const auto after = stop_and_read();
  if (!after) return after.error();
  // What was burnt since the last batch is charged to this one.
  const double used_us = *after - frozen_at_us_;
  frozen_at_us_ = *after;

  char extra = 0;
  if (::recv(control_.get(), &extra, 1, MSG_DONTWAIT) > 0) return forged("more than one reply");
  return BatchClock{used_us, wall_us};
}

Judged<double> RunnerProcess::stop_and_read() {
  if (auto s = clock_->freeze(); !s) {
    if (!process_->alive()) return why_it_ended();
    // A runner that has replied waits for the next request, and stands still at once.
    if (s.error().code == ErrorCode::timeout)
      return reject(Stage::integrity, RejectionCode::background_work,
                    "the candidate kept the kernel busy after its reply, and could not be frozen");
    return Failure(s.error());
  }
  const auto now = clock_->cpu_us();
  if (!now) return process_->alive() ? Failure(now.error()) : why_it_ended();
  return *now;
}

Judged<std::uint64_t> RunnerProcess::await_reply(double timeout_s, std::uint64_t nonce) {
  const auto start = SteadyClock::now();
  while (true) {
    const double left_ms = timeout_s * 1e3 - us_since(start) / 1e3;
    std::array<pollfd, 2> watched{{{control_.get(), POLLIN, 0}, {process_->exit_descriptor(), POLLIN, 0}}};
    const int ready =
        left_ms > 0 ? ::poll(watched.data(), watched.size(), static_cast<int>(std::ceil(left_ms))) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Failure(fail(ErrorCode::io, std::string("poll: ") + std::strerror(errno)));
    if (ready == 0) return past_deadline(timeout_s);
    if ((watched[0].revents & POLLIN) == 0) return why_it_ended();

    runner::Reply reply;
    const auto got = ::recv(control_.get(), &reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
    if (got == 0) return why_it_ended();
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return why_it_ended();
    if (got != sizeof reply || reply.magic != runner::kMagic || reply.nonce != nonce)
      return forged("a message that answers no request");
    if (reply.status == runner::Status::load_failed && nonce == 0) return why_it_ended();
    if (reply.status != (nonce == 0 ? runner::Status::loaded : runner::Status::done))
      return forged("a wrong status");
    return reply.nonce;
  }
}

Failure RunnerProcess::past_deadline(double timeout_s) {
  process_->kill();
  static_cast<void>(process_->wait());
  std::ostringstream words;
  words << (loading() ? "loading the object took longer than " : "the call did not return within ")
        << timeout_s << " s";
  return reject(Stage::run, RejectionCode::timed_out, words.str());
}

/// The process ended, or is about to: its channel broke.
Failure RunnerProcess::why_it_ended() {
  constexpr auto kGrace = std::chrono::seconds(2);
  if (!loading()) static_cast<void>(clock_->thaw());
  const auto ended = process_->wait_for(kGrace);
  if (!ended) {
    process_->kill();
    static_cast<void>(process_->wait());
    return forged("its own end");
  }
  if (!*ended) return ended->error();
  return verdict_on(**ended, loading());
}

}  // namespace kernelsmith

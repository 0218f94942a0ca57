#include "runner/runner.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "runner/child_process.hpp"
#include "runner/protocol.hpp"
#include "runner/stop_signal.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {
namespace {

using Clock = Channel::Clock;

constexpr auto kStartLimit = std::chrono::seconds(60);    // a GPU without persistence mode takes some seconds
constexpr auto kRequestLimit = std::chrono::seconds(60);  // mapping and plans take milliseconds
/// The time limit for loading, building and poisoning, which take milliseconds. A driver that takes longer
/// hangs, even on a busy machine.
constexpr auto kLoadLimit = std::chrono::seconds(10);
/// How long to wait for a killed process, which ends when the driver has stopped its kernels; the destructor
/// waits longer.
constexpr auto kRunnerReapLimit = std::chrono::milliseconds(300);

class RunnerProcess final : public Runner {
 public:
  RunnerProcess(ChildProcess process, Channel channel)
      : process_(std::move(process)), channel_(std::move(channel)) {}

  Status greet();

  bool alive() const override { return !dead_ && process_.running(); }
  plan::Workspace workspace() const override { return workspace_; }
  Result<std::vector<std::uint64_t>> map(std::span<const SharedMemory* const> pieces) override;
  Status unmap(std::span<const std::uint64_t> addresses) override;
  Result<std::uint32_t> keep(const plan::Plan& plan) override;
  void forget(std::uint32_t number) override;
  Judged<ReplayTime> replay(std::uint32_t number, const Replay& replay, const std::stop_token& stop) override;

 private:
  Judged<Message> ask(MessageKind kind, std::span<const std::byte> payload, std::span<const int> descriptors,
                      Clock::time_point deadline, int wake = -1);
  Result<Message> ask_machine(MessageKind kind, std::span<const std::byte> payload,
                              std::span<const int> descriptors = {});
  Failure lost(const Error& error, bool replaying);
  std::string end();

  ChildProcess process_;
  Channel channel_;
  plan::Workspace workspace_;
  bool dead_ = false;
};

/// Kills the process and returns how it ended.
std::string RunnerProcess::end() {
  dead_ = true;
  channel_.close();
  // If the process ended by itself, reports that: a process that closed its channel is about to end.
  auto how = process_.reap(std::chrono::milliseconds(20));
  if (how) return *how;
  process_.kill();
  how = process_.reap(kRunnerReapLimit);
  return how ? *how : "killed";
}

/// Explains a missing answer as the candidate's or the machine's fault.
Failure RunnerProcess::lost(const Error& error, bool replaying) {
  if (error.code == ErrorCode::cancelled || error.code == ErrorCode::timeout) process_.kill();
  const std::string how = end();
  if (error.code == ErrorCode::cancelled) return error;
  if (error.code == ErrorCode::timeout && replaying)
    return reject(Stage::run, RejectionCode::timed_out, "the calls did not end within their time limit");
  if (error.code == ErrorCode::timeout)
    return fail(ErrorCode::tool_failed, "the GPU's runner did not answer, and was killed");
  if (replaying)
    return reject(Stage::run, RejectionCode::crashed,
                  "the process that ran the kernels ended with " + how + ", in the GPU's driver");
  return fail(ErrorCode::tool_failed, "the GPU's runner ended with " + how, {},
              "run kernelsmith-cuda-runner by hand: it must print its usage");
}

Judged<Message> RunnerProcess::ask(MessageKind kind, std::span<const std::byte> payload,
                                   std::span<const int> descriptors, Clock::time_point deadline, int wake) {
  if (dead_) return Failure(fail(ErrorCode::tool_failed, "the GPU's runner is dead"));
  const bool replaying = kind == MessageKind::replay;
  if (const auto sent = channel_.send(kind, payload, descriptors); !sent) {
    if (sent.error().code == ErrorCode::invalid_argument) return Failure(sent.error());
    return lost(sent.error(), false);  // it had ended before the request
  }
  auto message = channel_.receive(deadline, wake);
  if (!message) return lost(message.error(), replaying);
  if (message->kind == MessageKind::done) return std::move(*message);
  RunnerRefusal refusal = refusal_of(*message);
  if (refusal.fatal) {
    process_.kill();
    end();
  }
  return std::move(refusal.failure);
}

Result<Message> RunnerProcess::ask_machine(MessageKind kind, std::span<const std::byte> payload,
                                           std::span<const int> descriptors) {
  auto answer = ask(kind, payload, descriptors, Clock::now() + kRequestLimit);
  if (answer) return std::move(*answer);
  return error_of(answer.error(), ErrorCode::internal);
}

Status RunnerProcess::greet() {
  auto message = channel_.receive(Clock::now() + kStartLimit);
  if (!message) {
    const Failure failure = lost(message.error(), false);
    return std::get<Error>(failure);
  }
  if (message->kind != MessageKind::done) {
    return error_of(refusal_of(*message).failure, ErrorCode::internal,
                    "the GPU's runner begins with a rejection: ");
  }
  const auto workspace = plan::decoded<plan::Workspace>(message->payload);
  if (!workspace) return fail(ErrorCode::internal, "the GPU's runner did not say where its workspace is");
  workspace_ = *workspace;
  return {};
}

Result<std::vector<std::uint64_t>> RunnerProcess::map(std::span<const SharedMemory* const> pieces) {
  Numbers addresses;
  while (!pieces.empty()) {
    const auto some = pieces.first(std::min(pieces.size(), kMaxDescriptors));
    pieces = pieces.subspan(some.size());
    Numbers sizes;
    std::vector<int> descriptors;
    for (const SharedMemory* piece : some) {
      sizes.push_back(piece->bytes());
      descriptors.push_back(piece->descriptor());
    }
    const auto answer = ask_machine(MessageKind::map, plan::encoded(sizes), descriptors);
    if (!answer) return answer.error();
    const auto mapped = plan::decoded<Numbers>(answer->payload);
    if (!mapped || mapped->size() != some.size())
      return fail(ErrorCode::internal, "the GPU's runner mapped too few pieces");
    addresses.insert(addresses.end(), mapped->begin(), mapped->end());
  }
  return addresses;
}

Status RunnerProcess::unmap(std::span<const std::uint64_t> addresses) {
  const auto answer =
      ask_machine(MessageKind::unmap, plan::encoded(Numbers(addresses.begin(), addresses.end())));
  return answer ? Status{} : Status(answer.error());
}

Result<std::uint32_t> RunnerProcess::keep(const plan::Plan& plan) {
  const auto answer = ask_machine(MessageKind::keep, plan::encode(plan));
  if (!answer) return answer.error();
  const auto number = plan::decoded<std::uint32_t>(answer->payload);
  if (!number) return fail(ErrorCode::internal, "the GPU's runner kept no plan");
  return *number;
}

void RunnerProcess::forget(std::uint32_t number) {
  if (!dead_) static_cast<void>(ask_machine(MessageKind::forget, plan::encoded(number)));
}

Judged<ReplayTime> RunnerProcess::replay(std::uint32_t number, const Replay& replay,
                                         const std::stop_token& stop) {
  if (stop.stop_requested()) return Failure(fail(ErrorCode::cancelled, "stopped on request"));
  const StopSignal signal(stop);
  if (signal.descriptor() < 0)
    return Failure(fail(ErrorCode::io, std::string("eventfd: ") + std::strerror(errno)));
  const auto limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(replay.timeout_s, 0.0, 1e6)));
  const auto answer = ask(MessageKind::replay, plan::encoded(ReplayRequest{number, replay}), {},
                          Clock::now() + limit + kLoadLimit, signal.descriptor());
  if (!answer) return answer.error();
  const auto time = plan::decoded<ReplayTime>(answer->payload);
  if (!time) return Failure(fail(ErrorCode::internal, "the GPU's runner gave no time"));
  return *time;
}

}  // namespace

Result<std::unique_ptr<Runner>> Runner::start(const RunnerSettings& settings) {
  auto channel = Channel::create();
  if (!channel) return channel.error();
  auto process = ChildProcess::start(
      settings.program,
      {std::to_string(settings.device), settings.vendor->backend, settings.kernels.string()},
      channel->second.descriptor());
  channel->second.close();
  if (!process) return process.error();
  auto runner = std::make_unique<RunnerProcess>(std::move(*process), std::move(channel->first));
  if (const auto greeted = runner->greet(); !greeted) return greeted.error();
  return std::unique_ptr<Runner>(std::move(runner));
}

}  // namespace kernelsmith::cuda

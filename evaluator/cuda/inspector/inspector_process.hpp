// InspectorProcess: the judge's side of kernelsmith-cuda-inspector, which runs under a tool.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "inspector/protocol.hpp"
#include "inspector/tool.hpp"
#include "runner/channel.hpp"
#include "runner/child_process.hpp"
#include "runner/stop_signal.hpp"

namespace kernelsmith::cuda {

struct InspectorSettings {
  std::filesystem::path program;  ///< kernelsmith-cuda-inspector
  int device = 0;
};

/// The addresses of the inspector's memory.
struct InspectorAddresses {
  std::uint64_t kept_workspace = 0, call_workspace = 0;
  std::vector<std::uint64_t> tensors;
};

/// The destructor kills the inspector and the tool. Every step must end before the deadline. Not thread-safe.
class InspectorProcess {
 public:
  using Deadline = Channel::Clock::time_point;

  /// Starts the tool with the inspector's program, and waits for its context. Errors: not_found, io, timeout,
  /// tool_failed (the tool ended), the inspector's own.
  /// `stop` ends every later step too (cancelled).
  static Result<InspectorProcess> start(const Tool& tool, const InspectorSettings& settings,
                                        Deadline deadline, const std::stop_token& stop);

  /// `values` is a descriptor of the filled tensors' values, one after another.
  Result<InspectorAddresses> map(const InspectorMemory& memory, int values);

  /// Runs the plan's only call. A Rejection is the kernel's fault.
  Judged<void> replay(const plan::Plan& plan);

  /// Lets the inspector and the tool end, and returns the tool's status, such as "exit status 0". Errors:
  /// timeout, cancelled.
  Result<std::string> finish();

 private:
  InspectorProcess(ChildProcess process, Channel channel, Deadline deadline, const std::stop_token& stop)
      : process_(std::move(process)),
        channel_(std::move(channel)),
        deadline_(deadline),
        stop_(stop),
        signal_(std::make_unique<StopSignal>(stop)) {}
  Judged<Message> receive();
  Result<Message> receive_from_machine();

  ChildProcess process_;
  Channel channel_;
  Deadline deadline_;
  std::stop_token stop_;
  std::unique_ptr<StopSignal> signal_;
};

}  // namespace kernelsmith::cuda

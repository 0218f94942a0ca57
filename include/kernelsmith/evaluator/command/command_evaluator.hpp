// The `command` backend: any program that gets a candidate's path and answers with numbers, for searches
// other than kernels (docs/backend-command.md).
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// Settings of the backend `command`.
struct CommandOptions {
  std::uint64_t memory_bytes = 4ULL << 30;
  unsigned runs_at_a_time = 0;  ///< 0: one for each core
  bool unsandboxed = false;     ///< only on explicit request; recorded as the tier "unsandboxed"
  /// A stop request ends the preparation of the task with `cancelled`.
  std::stop_token stop = {};
};

/// An evaluator that runs Task::command in a sandbox for each candidate. It believes the command's answer, so
/// the tier is "unverified". Errors: `unsupported` for another backend's task; `refused` for a command that
/// does not pass on the candidate or the answer; `tool_missing` if the command's program or bubblewrap is
/// missing.
Result<std::shared_ptr<Evaluator>> make_command_evaluator(Task task, CommandOptions options = {});

BackendDescription describe_command_backend();

}  // namespace kernelsmith

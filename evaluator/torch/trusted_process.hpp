// TrustedProcess: one of the trusted processes on the GPU. The judge has the reference, the expected outputs
// and the yardstick. A runner executes a candidate's kernels and knows no expected output.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kernelsmith/evaluator/verdict.hpp>

#include "wire.hpp"

namespace kernelsmith::torch {

enum class Role { judge, runner };

/// The error for a failure that cannot be a candidate's: bugs of our own programs count as the machine's.
Error machine_error(const Failure& failure);

/// Starts a worker's program. Errors: those of WarmProgram::start(). Thread-safe.
using WorkerStart = std::function<Result<PythonProcess>(Role, const std::stop_token&)>;

/// Not thread-safe.
class TrustedProcess {
 public:
  static Result<std::unique_ptr<TrustedProcess>> start(const WorkerStart& start, Role role,
                                                       const std::stop_token& stop);

  /// One request with its reply. An error in the reply is returned as that failure. If a runner dies or does
  /// not answer, that is a Rejection (run: crashed, timed_out), which must not be trusted before the machine
  /// has shown that it works; for a judge it is an Error. The process is then dead. It is also dead after a
  /// reply that a kernel crashed, does not end, or changed data that the next candidate would find.
  Judged<Reply> ask(const Json& request, std::string blob, double timeout_s, const std::stop_token& stop);
  Judged<Reply> ask(const Json& request, double timeout_s, const std::stop_token& stop) {
    return ask(request, {}, timeout_s, stop);
  }

  bool alive() const { return process_.alive(); }

 private:
  TrustedProcess(Role role, PythonProcess process) : role_(role), process_(std::move(process)) {}
  Failure no_answer(const Answer& answer, const std::string& what, double timeout_s) const;

  Role role_;
  PythonProcess process_;
};

}  // namespace kernelsmith::torch

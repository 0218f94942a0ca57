// TrustedProcess: one of the trusted processes on the GPU. The judge holds the reference, what outputs must
// be, and the yardstick; a runner is where a candidate's kernels run, and knows no expected output.
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

/// The error for a failure that cannot be a candidate's: what our own programs do wrong is the machine's.
Error machine_error(const Failure& failure);

/// Starts a worker's program. Thread-safe.
using WorkerStart = std::function<Result<PythonProcess>(Role)>;

/// Not thread-safe.
class TrustedProcess {
 public:
  static Result<std::unique_ptr<TrustedProcess>> start(const WorkerStart& start, Role role);

  /// One request with its reply. What the reply tells as an error is that failure. A runner that dies or
  /// gives no answer is a Rejection (run: crashed, timed_out), which must not be believed before the machine
  /// has shown that it works; a judge that does is an Error. After either the process is dead, and after a
  /// reply that a kernel crashed, does not end, or changed what the next candidate would find.
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

// Judge: decides for one candidate at a time whether it is correct, and how fast it is relative to the
// yardstick. docs/design.md, section 5, defines the meaning of an accepted score.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith {

/// Draws new sets for the host at each call, a number of sets for each shape.
using BankFunction = std::function<Result<Bank>()>;

/// The parts of a judge.
struct JudgeParts {
  std::shared_ptr<const Task> task;
  std::shared_ptr<KernelHost> host;
  OracleFactory oracles;
  std::size_t oracle_threads = 2;
  BankLimits bank;
  /// If the host draws its inputs and compares outputs itself, this replaces oracles and limits.
  BankFunction draw_bank;
  /// For `draw_bank`: whether an output of the reference does not depend on the inputs.
  bool degenerate = false;
  /// The timed shapes, then the others. If empty, the task's shapes are used. For a host that draws its
  /// inputs, a shape is a variant of a workload's inputs.
  std::vector<TaskShape> shapes;
  /// The numbers of the shapes for evaluations that are neither careful nor confirmations: the timed ones
  /// first. If empty, all. Binaries of such evaluations need to run at these only.
  std::vector<std::size_t> quick;
  BinaryPtr baseline;
  BinaryPtr seed;                 ///< null if the task has none
  BinaryPtr yardstick;            ///< the task's own, else the seed, else the baseline
  std::function<double()> now_s;  ///< wall time in seconds; if empty, the steady clock's
  /// If set, Judge::create() adds how long the steps of the kernels' checks took. Not used later.
  std::map<std::string, double>* spent_ms = nullptr;
};

/// Not thread-safe, because it must time only one thing at a time.
class Judge {
 public:
  /// Makes the bank, checks baseline, seed and yardstick, and measures the baseline against the yardstick.
  /// Takes about a second. Errors: refused if the task is unusable (a retry would give the same answer);
  /// cancelled.
  static Result<std::unique_ptr<Judge>> create(JudgeParts parts, const std::stop_token& stop = {});

  virtual ~Judge() = default;

  /// Checks and times `request.candidate`, also against the rival if there is one. If an output of the
  /// reference does not depend on the inputs, an accepted candidate has the feature `degenerate`. A
  /// confirmation (`request.remeasurement`) draws a new bank first. Errors: unstable if the machine is too
  /// noisy to measure on, cancelled, and the host's.
  virtual Result<Evaluation> evaluate(const RunRequest& request, const std::stop_token& stop) = 0;
};

}  // namespace kernelsmith

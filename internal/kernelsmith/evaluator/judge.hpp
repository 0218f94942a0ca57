// Judge: decides about one candidate at a time: is it right, and how fast is it beside the yardstick.
// docs/design.md, section 5, says what an accepted score means.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith {

/// Draws sets that the host knows what to make of, some for each shape; new ones at each call.
using BankFunction = std::function<Result<Bank>()>;

/// What a judge is made of.
struct JudgeParts {
  std::shared_ptr<const Task> task;
  std::shared_ptr<KernelHost> host;
  OracleFactory oracles;
  std::size_t oracle_threads = 2;
  BankLimits bank;
  /// In place of oracles and limits, if the host draws its inputs and compares outputs by itself.
  BankFunction draw_bank;
  /// Beside `draw_bank`: an output of the reference is the same whatever the inputs are.
  bool degenerate = false;
  /// The timed shapes, then the others; empty: the task's. For a host that draws its inputs: variants of
  /// them.
  std::vector<TaskShape> shapes;
  BinaryPtr baseline;
  BinaryPtr seed;                 ///< null if the task has none
  BinaryPtr yardstick;            ///< the task's own, else the seed, else the baseline
  std::function<double()> now_s;  ///< wall time in seconds; null: the steady clock
};

/// Not thread-safe: what it times, it times alone.
class Judge {
 public:
  /// Makes the bank, checks baseline, seed and yardstick, and measures the baseline against the yardstick.
  /// Takes about a second. Errors: refused if the task is not usable, and the answer is the same every
  /// time; cancelled.
  static Result<std::unique_ptr<Judge>> create(JudgeParts parts, const std::stop_token& stop = {});

  virtual ~Judge() = default;

  /// Checks and times `request.candidate`, beside the rival too if there is one. If an output of the
  /// reference is the same whatever the inputs are, an accepted one has the feature `degenerate`. A
  /// confirmation
  /// (`request.remeasurement`) draws a new bank first. Errors: unstable if the machine is too noisy to
  /// measure on, cancelled, and the host's.
  virtual Result<Evaluation> evaluate(const RunRequest& request, const std::stop_token& stop) = 0;
};

}  // namespace kernelsmith

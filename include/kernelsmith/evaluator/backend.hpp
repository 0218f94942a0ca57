// The Backend seam: the differences between a C++ function on the CPU, a CUDA kernel and a program that
// prints metrics. A backend implements the stages compile and run. make_staged_evaluator adds queues, limits,
// the parse stage, caching for duels and the exactly-once answer.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/ticket.hpp>

namespace kernelsmith {

/// The compile stage's output for the run stage. Opaque to everyone but its backend; immutable; shared.
class Binary {
 public:
  virtual ~Binary() = default;
  /// The digest of its bytes, if building the same source again must give the same bytes.
  virtual std::optional<Digest> exact_bytes() const { return std::nullopt; }
};
using BinaryPtr = std::shared_ptr<const Binary>;

/// The result of the compile stage: a binary or a rejection, with the report so far.
struct Compilation {
  std::variant<BinaryPtr, Rejection> outcome;
  /// toolchain, spent_ms["compile"], compile.log; empty beside a rejection, which holds its own
  Report report = {};
  std::map<std::string, double> features = {};  ///< of the binary, for the archive: Metrics::features()

  const BinaryPtr* binary() const { return std::get_if<BinaryPtr>(&outcome); }
  const Rejection* rejection() const { return std::get_if<Rejection>(&outcome); }
};

/// The input of the run stage.
struct RunRequest {
  BinaryPtr candidate;
  BinaryPtr rival;  ///< in a duel: the binary to time against the candidate (Report::duel); else null
  std::optional<Remeasurement> remeasurement;
  bool careful = false;  ///< as EvaluationJob::careful; so is every confirmation
  /// The index of the run's own device, below EvaluatorOptions::run_slots. No other run uses it, whatever its
  /// task.
  std::size_t device = 0;
  Report report;                                ///< of the compile stage, to be completed
  std::map<std::string, double> features = {};  ///< of the compile stage
  WorkSink works = {};  ///< Evaluator::start_watched()'s: a run reports when it waits for its device
};

/// Calls the blocking `wait()`, and `works(false)` for the time of it.
template <class Wait>
auto in_turn(const WorkSink& works, Wait wait) {
  if (works) works(false);
  auto turn = wait();
  if (works) works(true);
  return turn;
}

/// One kind of candidate on one machine. Both functions are called from the evaluator's threads, compile()
/// from several at once, run() from as many as EvaluatorOptions::run_slots; both may block. A fault of the
/// candidate is a Rejection, a fault of the machine an Error. After a stop request they return soon, with
/// ErrorCode::cancelled if the work was not finished.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<Compilation> compile(const Source& source, std::stop_token stop) = 0;
  virtual Result<Evaluation> run(RunRequest request, std::stop_token stop) = 0;
  /// Describes the device memory of a prepared task for people; empty: not measured.
  virtual std::string needs() const { return {}; }
  /// Outputs of the reference that do not depend on the inputs, as found when the task was prepared.
  virtual std::vector<std::string> degenerate() const { return {}; }
};

}  // namespace kernelsmith

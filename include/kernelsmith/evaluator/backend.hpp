// The Backend seam: the differences between a C++ function on the CPU, a CUDA kernel and a program that
// prints metrics. A backend implements the stages compile and run. make_staged_evaluator() adds queues,
// limits, the parse stage, a cache for duels, and the guarantee of exactly one answer.
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

/// What the compile stage hands to the run stage. Only its backend looks into it. Immutable; shared.
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
  /// Has toolchain, spent_ms["compile"] and compile.log. Empty for a rejection, which has a report itself.
  Report report = {};
  std::map<std::string, double> features = {};  ///< features of the binary, for the archive:
                                                ///< Metrics::features()

  const BinaryPtr* binary() const { return std::get_if<BinaryPtr>(&outcome); }
  const Rejection* rejection() const { return std::get_if<Rejection>(&outcome); }
};

/// The input of the run stage.
struct RunRequest {
  BinaryPtr candidate;
  BinaryPtr rival;  ///< in a duel: the binary to time against the candidate (Report::duel); else null
  std::optional<Remeasurement> remeasurement;
  bool careful = false;  ///< EvaluationJob::careful; set for every confirmation too
  /// The index of this run's device, below EvaluatorOptions::run_slots. No other run, of any task, uses the
  /// device.
  std::size_t device = 0;
  Report report;                                ///< the compile stage's, to be completed
  std::map<std::string, double> features = {};  ///< the compile stage's
  WorkSink works = {};  ///< Evaluator::start_watched()'s; through it a run reports that it waits for its
                        ///< device
};

/// Calls the blocking `wait()`. Reports `works(false)` while it waits.
template <class Wait>
auto in_turn(const WorkSink& works, Wait wait) {
  if (works) works(false);
  auto turn = wait();
  if (works) works(true);
  return turn;
}

/// One kind of candidate on one machine. The evaluator's threads call both functions: several threads at once
/// call compile(), and up to EvaluatorOptions::run_slots threads call run(). Both functions may block. A
/// fault of the candidate is a Rejection, a fault of the machine is an Error. After a stop request both
/// return soon, with ErrorCode::cancelled if the work was not finished.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<Compilation> compile(const Source& source, std::stop_token stop) = 0;
  virtual Result<Evaluation> run(RunRequest request, std::stop_token stop) = 0;
  /// Describes for people how much device memory a prepared task needs; empty if that was not measured.
  virtual std::string needs() const { return {}; }
  /// The outputs of the reference that do not depend on the inputs. They were found when the task was
  /// prepared.
  virtual std::vector<std::string> degenerate() const { return {}; }
};

}  // namespace kernelsmith

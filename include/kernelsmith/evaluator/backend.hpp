// The Backend seam: what differs between a C++ function on the CPU, a CUDA kernel and a program that prints
// metrics. A backend implements the stages compile and run; queues, limits, the parse stage, duels' caching
// and the exactly-once answer belong to make_staged_evaluator.
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

/// What the compile stage hands to the run stage. Opaque to everyone but its backend; immutable; shared.
class Binary {
 public:
  virtual ~Binary() = default;
  /// The digest of its exact bytes, if building the same source again must give the same.
  virtual std::optional<Digest> exact_bytes() const { return std::nullopt; }
};
using BinaryPtr = std::shared_ptr<const Binary>;

/// The compile stage's answer: a binary or a rejection, with the report so far.
struct Compilation {
  std::variant<BinaryPtr, Rejection> outcome;
  /// toolchain, spent_ms["compile"], compile.log; empty beside a rejection, which holds its own
  Report report = {};
  std::map<std::string, double> features = {};  ///< of the binary, for the archive: Metrics::features()

  const BinaryPtr* binary() const { return std::get_if<BinaryPtr>(&outcome); }
  const Rejection* rejection() const { return std::get_if<Rejection>(&outcome); }
};

/// What the run stage gets.
struct RunRequest {
  BinaryPtr candidate;
  BinaryPtr rival;  ///< null unless this is a duel: timed against the candidate, Report::duel
  std::optional<Remeasurement> remeasurement;
  bool careful = false;  ///< as EvaluationJob::careful; so is every confirmation
  /// Which device the run has for itself, whatever task others run: below EvaluatorOptions::run_slots.
  std::size_t device = 0;
  Report report;                                ///< of the compile stage, to be completed
  std::map<std::string, double> features = {};  ///< of the compile stage
  WorkSink works = {};  ///< of Evaluator::start_watched(): a run that waits for its device says so
};

/// Calls `wait()`, which waits for others, and tells `works` that nothing is worked on meanwhile.
template <class Wait>
auto in_turn(const WorkSink& works, Wait wait) {
  if (works) works(false);
  auto turn = wait();
  if (works) works(true);
  return turn;
}

/// One kind of candidate on one machine. Both functions are called from the evaluator's threads, compile()
/// from several at once, run() from as many as EvaluatorOptions::run_slots; both may block. What the
/// candidate did wrong is a Rejection, what the machine did wrong an Error. After a stop request they return
/// soon, with ErrorCode::cancelled if the work was not finished.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<Compilation> compile(const Source& source, std::stop_token stop) = 0;
  virtual Result<Evaluation> run(RunRequest request, std::stop_token stop) = 0;
  /// What a prepared task takes of its device, in words for a person; empty: not measured.
  virtual std::string needs() const { return {}; }
  /// The reference's outputs that are the same whatever the inputs are, if preparing the task shows it.
  virtual std::vector<std::string> degenerate() const { return {}; }
};

}  // namespace kernelsmith

// The Evaluator seam: jobs in, evaluations out. A job is data with a JSON codec (kernelsmith/config), so a
// fleet or a REST service can be an Evaluator too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/program.hpp>
#include <kernelsmith/core/ticket.hpp>

namespace kernelsmith {

/// Receives the one answer to a request, on any thread.
template <class T>
using Sink = std::function<void(Result<T>)>;

/// Called on any thread: with true when work on an evaluation begins or continues, with false when the
/// evaluation waits for its turn.
using WorkSink = std::function<void(bool works)>;

/// The incumbent of a duel: the challenger is timed against it.
struct Rival {
  ProgramId program;
  Source source;

  friend bool operator==(const Rival&, const Rival&) = default;
};

/// One evaluation to be done. (run, candidate, attempt) identifies it, also when it is sent twice.
struct EvaluationJob {
  std::string run;  ///< the run's id
  ProgramId candidate;
  std::uint32_t attempt = 0;  ///< the number of this evaluation among the candidate's
  Digest task;                ///< Task::digest
  Source source;
  std::optional<Remeasurement> remeasurement;  ///< set when the candidate was accepted before
  std::optional<Rival> rival;                  ///< set for a duel
  /// Allows differences in the bytes that the seed freezes: the candidate is a user's own file, not a child
  /// of a search.
  bool may_edit_frozen = false;
  bool careful = false;  ///< takes several times as long for a narrower interval

  friend bool operator==(const EvaluationJob&, const EvaluationJob&) = default;
};

/// Compiles, verifies and times candidates.
///
/// Thread-safe. start() does not block on the work and calls `done` exactly once for each job, on any thread:
/// with an Evaluation, or with an Error if the machine failed rather than the candidate. After a stop request
/// the Evaluator answers soon, with ErrorCode::cancelled if the work was not finished. The destructor returns
/// when nothing is in flight.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) = 0;

  /// Like start(), for a caller that limits only the time of the work. The job counts as waiting until the
  /// first call of `works`. `works` is never called after `done`. By default all of the time counts as work.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): overriding functions keep the sink
  virtual void start_watched(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done, WorkSink works) {
    works(true);
    start(std::move(job), std::move(stop), std::move(done));
  }
};

}  // namespace kernelsmith

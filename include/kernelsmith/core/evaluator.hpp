// The Evaluator seam: jobs in, evaluations out. A job is data with a JSON codec (kernelsmith/config), so a
// fleet or a REST service is one more Evaluator.
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

/// Called with true when work on an evaluation begins or goes on, with false when it waits for its turn; on
/// any thread.
using WorkSink = std::function<void(bool works)>;

/// Whom a challenger is timed against in a duel.
struct Rival {
  ProgramId program;
  Source source;

  friend bool operator==(const Rival&, const Rival&) = default;
};

/// One evaluation to be done. (run, candidate, attempt) is its idempotent key.
struct EvaluationJob {
  std::string run;  ///< the run's id
  ProgramId candidate;
  std::uint32_t attempt = 0;  ///< counts evaluations of this candidate within the run
  Digest task;                ///< Task::digest
  Source source;
  std::optional<Remeasurement> remeasurement;  ///< set when the candidate was accepted before
  std::optional<Rival> rival;                  ///< set for a duel
  /// The bytes that the seed freezes may differ: a user's own file, no child of a search.
  bool may_edit_frozen = false;
  bool careful = false;  ///< several times the time for a narrower interval: an answer that stands alone

  friend bool operator==(const EvaluationJob&, const EvaluationJob&) = default;
};

/// Compiles, verifies and times candidates.
///
/// Thread-safe. start() does not block on the work and calls `done` exactly once for each job, on any thread:
/// with an Evaluation, or with an Error if the machine failed rather than the candidate. After a stop
/// request it answers soon, with ErrorCode::cancelled if the work was not finished. The destructor returns
/// when nothing is in flight.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) = 0;

  /// The same for somebody who limits the time of the work alone. It waits until `works` is first called, and
  /// `works` is not called after `done`. If an evaluator cannot tell, all its time is work.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that override it keep the sink
  virtual void start_watched(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done, WorkSink works) {
    works(true);
    start(std::move(job), std::move(stop), std::move(done));
  }
};

}  // namespace kernelsmith

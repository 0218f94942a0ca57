// RunnerPool: the processes for candidates' kernels, one for each place, and spares.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <stop_token>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "planner_pool.hpp"
#include "trusted_process.hpp"

namespace kernelsmith::torch {

/// Started but unused workers, the oldest first.
using Spares = std::deque<std::unique_ptr<TrustedProcess>>;

/// Not thread-safe.
class RunnerPool {
 public:
  /// `preparation` is the request that a runner gets before a plan.
  RunnerPool(WorkerStart start, Json preparation, double start_s, Spares spares = {})
      : start_(std::move(start)),
        preparation_(std::move(preparation)),
        start_s_(start_s),
        spares_(std::move(spares)) {}

  /// Starts a spare, because opening the device takes a second. After a candidate has killed a runner, starts
  /// more spares, because other candidates may kill more. An error is reported when the spare is taken.
  void start_spares(const std::stop_token& stop);

  /// If there is no runner yet, waits until a spare has started and has loaded the reference as far as that
  /// needs no GPU. An error comes again in take().
  void read_early(const std::stop_token& stop);

  /// The live and prepared runner of the place for this plan. It serves one candidate after another, and
  /// before each batch overwrites what others left. Only a failed runner is replaced. Errors are the
  /// machine's.
  Result<TrustedProcess*> take(const PlanPtr& plan, std::size_t place, const std::stop_token& stop);

  /// Ends all runners and thereby frees their device memory. The next take() starts one.
  void end_all();

  /// The total time for which take() and read_early() have waited for runners to start.
  double waited_s() const { return waited_s_; }

  /// The live runner that was last taken for this plan; null if there is none.
  TrustedProcess* find(const PlanPtr& plan);

 private:
  Result<std::unique_ptr<TrustedProcess>> take_spare(const std::stop_token& stop);

  struct Used {
    Digest binary;
    std::unique_ptr<TrustedProcess> worker;
  };

  const WorkerStart start_;
  const Json preparation_;
  const double start_s_;
  Spares spares_;
  std::size_t wanted_spares_ = 1;
  std::map<std::size_t, Used> by_place_;
  double waited_s_ = 0;
};

}  // namespace kernelsmith::torch

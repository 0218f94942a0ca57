// RunnerPool: the processes that candidates' kernels run in, one for each place, and spares.
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

/// Workers that were started and not used, the oldest first.
using Spares = std::deque<std::unique_ptr<TrustedProcess>>;

/// Not thread-safe.
class RunnerPool {
 public:
  /// `preparation` is what a runner is asked for before it gets a plan.
  RunnerPool(WorkerStart start, Json preparation, double start_s, Spares spares = {})
      : start_(std::move(start)),
        preparation_(std::move(preparation)),
        start_s_(start_s),
        spares_(std::move(spares)) {}

  /// Starts a spare, whose imports take seconds: one, and more once a candidate has cost a runner, for then
  /// others soon may. An error shows when one is taken.
  void start_spares();

  /// The runner of the place, alive and prepared, to load this plan into. It serves one candidate after the
  /// other, and overwrites before each batch what another one left; only one that failed is replaced. Errors
  /// are the machine's.
  Result<TrustedProcess*> take(const PlanPtr& plan, std::size_t place, const std::stop_token& stop);

  /// Ends all of them: what they hold of the device is free. The next take() starts one.
  void end_all();

  /// How long take() has waited for runners to start, in all.
  double waited_s() const { return waited_s_; }

  /// A living runner that this plan was the last to be taken for; null if there is none.
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

// InspectionPolicy: which evaluations are worth an inspection, and what becomes of them.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/evaluator/backend.hpp>

#include "inspector/inspection.hpp"

namespace kernelsmith::cuda {

/// Inspects what is faster than the yardstick and than all that passed before, as long as inspections have
/// taken no more than a fifth of the time; and whatever is confirmed. Not thread-safe.
class InspectionPolicy {
 public:
  using Inspect = std::function<Result<Inspection>(const BinaryPtr&, const std::stop_token&)>;

  /// An empty function inspects nothing. `now_ms` is a clock that began when this was made.
  explicit InspectionPolicy(Inspect inspect = {}, std::function<double()> now_ms = clock())
      : inspect_(std::move(inspect)), now_ms_(std::move(now_ms)) {}

  /// The evaluation with the inspection's advice and notes, or a Rejection of code unsafe_memory. Errors: the
  /// inspection's.
  Result<Evaluation> look(const Evaluation& evaluation, const RunRequest& request,
                          const std::stop_token& stop);

 private:
  static std::function<double()> clock();
  bool worth(const Evaluation& evaluation, const RunRequest& request) const;

  Inspect inspect_;
  std::function<double()> now_ms_;
  double inspecting_ms_ = 0;  ///< of all inspections
  double best_ = 1;           ///< over the yardstick, of what passed
  BinaryPtr last_;            ///< inspected last
  Inspection found_;
};

}  // namespace kernelsmith::cuda

// BestWatch: which evaluations are worth an inspection, and what becomes of them.
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

/// Inspects what is faster than the yardstick and than all that passed before, and what is confirmed: a
/// search finds few of those. Not thread-safe.
class BestWatch {
 public:
  using Inspect = std::function<Result<Inspection>(const BinaryPtr&, const std::stop_token&)>;

  /// An empty function inspects nothing.
  explicit BestWatch(Inspect inspect = {}) : inspect_(std::move(inspect)) {}

  /// The evaluation with the inspection's advice and notes, or a Rejection of code unsafe_memory. Errors: the
  /// inspection's.
  Result<Evaluation> look(const Evaluation& evaluation, const RunRequest& request,
                          const std::stop_token& stop);

 private:
  bool worth(const Evaluation& evaluation, const RunRequest& request) const;

  Inspect inspect_;
  double best_ = 1;  ///< over the yardstick
  BinaryPtr last_;   ///< inspected last
  Inspection found_;
};

}  // namespace kernelsmith::cuda

// InspectionPolicy: decides which evaluations to inspect, and applies the result.
#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/evaluator/backend.hpp>

#include "inspector/inspection.hpp"

namespace kernelsmith::cuda {

/// Inspects programs that are faster than the yardstick and all earlier programs that passed. In a search it
/// does so only while inspections, with the next one, take at most a fifth of the time. Always inspects
/// confirmations. Not thread-safe.
class InspectionPolicy {
 public:
  using Inspect = std::function<Result<Inspection>(const BinaryPtr&, const std::stop_token&)>;

  /// An empty function inspects nothing. `now_ms` is the time since construction.
  explicit InspectionPolicy(Inspect inspect = {}, std::function<double()> now_ms = clock())
      : inspect_(std::move(inspect)), now_ms_(std::move(now_ms)) {}

  /// The evaluation with the inspection's advice and notes, or a Rejection of code unsafe_memory. Errors: the
  /// inspection's.
  Result<Evaluation> look(const Evaluation& evaluation, const RunRequest& request,
                          const std::stop_token& stop);

 private:
  /// Measured on an H200: NVIDIA's tools need most of this to start.
  static constexpr double kUsualMs = 5000;
  static std::function<double()> clock();
  bool worth(const Evaluation& evaluation, const RunRequest& request) const;

  Inspect inspect_;
  std::function<double()> now_ms_;
  double inspecting_ms_ = 0;   ///< time of all inspections
  double next_ms_ = kUsualMs;  ///< forecast for the next inspection: the time of the last one
  double best_ = 1;            ///< highest speed, relative to the yardstick, of programs that passed
  BinaryPtr last_;             ///< the last inspected program
  Inspection found_;
};

}  // namespace kernelsmith::cuda

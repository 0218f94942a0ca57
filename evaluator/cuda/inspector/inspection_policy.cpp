#include "inspector/inspection_policy.hpp"

#include <kernelsmith/evaluator/stopwatch.hpp>

namespace kernelsmith::cuda {
namespace {

/// The share of time for inspections of unconfirmed programs. The share is limited because inspections keep
/// the device from measuring.
constexpr double kMostShare = 0.2;

bool same(const BinaryPtr& one, const BinaryPtr& other) {
  return one && other && (one == other || (one->exact_bytes() && one->exact_bytes() == other->exact_bytes()));
}

}  // namespace

bool InspectionPolicy::worth(const Evaluation& evaluation, const RunRequest& request) const {
  if (!inspect_ || !evaluation.accepted()) return false;
  if (request.remeasurement == Remeasurement::confirm) return true;
  const auto& over_yardstick = evaluation.report().over_yardstick;
  if (!over_yardstick || over_yardstick->low <= best_) return false;
  return request.careful || inspecting_ms_ + next_ms_ <= kMostShare * now_ms_();
}

std::function<double()> InspectionPolicy::clock() {
  return [watch = Stopwatch()] { return watch.ms(); };
}

Result<Evaluation> InspectionPolicy::look(const Evaluation& evaluation, const RunRequest& request,
                                          const std::stop_token& stop) {
  if (!worth(evaluation, request)) return evaluation;
  const double began_ms = now_ms_();
  if (!same(last_, request.candidate)) {
    auto found = inspect_(request.candidate, stop);
    if (!found) return found.error();
    last_ = request.candidate;
    found_ = std::move(*found);
    next_ms_ = now_ms_() - began_ms;
  }
  Report report = evaluation.report();
  report.spent_ms["inspect"] = now_ms_() - began_ms;
  inspecting_ms_ += now_ms_() - began_ms;
  if (!found_.advice.empty()) report.advice = found_.advice;  // a profile is more informative than figures
  report.artifacts.insert(report.artifacts.end(), found_.notes.begin(), found_.notes.end());
  if (!found_.unsafe.empty())
    return Evaluation(
        Rejection{Stage::integrity, RejectionCode::unsafe_memory, found_.unsafe, std::move(report)});
  if (report.over_yardstick && report.over_yardstick->median > best_) best_ = report.over_yardstick->median;
  return Evaluation(Acceptance{*evaluation.metrics(), std::move(report)});
}

}  // namespace kernelsmith::cuda

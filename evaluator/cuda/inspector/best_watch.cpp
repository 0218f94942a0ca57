#include "inspector/best_watch.hpp"

#include <variant>

#include <kernelsmith/evaluator/stopwatch.hpp>

namespace kernelsmith::cuda {
namespace {

bool same(const BinaryPtr& one, const BinaryPtr& other) {
  return one && other && (one == other || (one->exact_bytes() && one->exact_bytes() == other->exact_bytes()));
}

}  // namespace

bool BestWatch::worth(const Evaluation& evaluation, const RunRequest& request) const {
  if (!inspect_ || !evaluation.accepted()) return false;
  if (request.remeasurement == Remeasurement::confirm) return true;
  const auto& over_yardstick = evaluation.report().over_yardstick;
  return over_yardstick && over_yardstick->low > best_;
}

Result<Evaluation> BestWatch::look(const Evaluation& evaluation, const RunRequest& request,
                                   const std::stop_token& stop) {
  if (!worth(evaluation, request)) return evaluation;
  const Stopwatch watch;
  if (!same(last_, request.candidate)) {
    auto found = inspect_(request.candidate, stop);
    if (!found) return found.error();
    last_ = request.candidate;
    found_ = std::move(*found);
  }
  Report report = evaluation.report();
  report.spent_ms["inspect"] = watch.ms();
  report.advice = found_.advice;
  report.artifacts.insert(report.artifacts.end(), found_.notes.begin(), found_.notes.end());
  if (!found_.unsafe.empty())
    return Evaluation(
        Rejection{Stage::integrity, RejectionCode::unsafe_memory, found_.unsafe, std::move(report)});
  if (report.over_yardstick && report.over_yardstick->median > best_) best_ = report.over_yardstick->median;
  return Evaluation(Acceptance{*evaluation.metrics(), std::move(report)});
}

}  // namespace kernelsmith::cuda

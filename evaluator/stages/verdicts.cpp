#include "verdicts.hpp"

#include <utility>

#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith::stages {
namespace {

/// Whether the job shares verdicts with others. A user's own file and a careful evaluation do not.
bool is_shared(const EvaluationJob& job) {
  return !job.remeasurement && !job.rival && !job.careful && !job.may_edit_frozen;
}

/// Rejections that the same bytes repeat on the same inputs, however busy the machine is.
bool is_of_the_binary(const Evaluation& evaluation) {
  const Rejection* why = evaluation.rejection();
  return !why || why->stage == Stage::correctness || why->stage == Stage::integrity;
}

Digest key_of(const EvaluationJob& job, const Digest& binary) {
  return DigestBuilder().add(job.run).add(binary.hex()).finish();
}

}  // namespace

std::optional<Evaluation> Verdicts::find(const EvaluationJob& job, const Binary& binary,
                                         const Report& compiled) {
  const auto bytes = binary.exact_bytes();
  if (!bytes || !is_shared(job)) return std::nullopt;
  const auto known = known_.find(key_of(job, *bytes));
  // A repeated job for the same source wants another measurement.
  if (!known || known->source == job.source.digest()) return std::nullopt;
  Report report = known->evaluation.report();
  report.spent_ms = compiled.spent_ms;
  report.artifacts = compiled.artifacts;
  return with_report(known->evaluation, std::move(report));
}

Evaluation Verdicts::keep(const EvaluationJob& job, const Binary& binary, const Evaluation& evaluation) {
  const auto bytes = binary.exact_bytes();
  if (job.remeasurement == Remeasurement::confirm) known_.clear();
  if (!bytes) return evaluation;
  Report report = evaluation.report();
  report.binary = bytes;
  Evaluation named = with_report(evaluation, std::move(report));
  if (is_shared(job) && is_of_the_binary(named))
    known_.put(key_of(job, *bytes), {job.source.digest(), named.without_artifacts()});
  return named;
}

}  // namespace kernelsmith::stages

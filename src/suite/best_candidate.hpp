// Makes a task's result from evaluations, with the same rules for searches and ready-made candidates.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/suite/metrics.hpp>

namespace kernelsmith::suite {

/// The beginning of the verdict of a candidate that was not evaluated.
inline constexpr std::string_view kNotEvaluated = "not evaluated:";

/// The speedup of an accepted candidate; the fitness if the backend measures no times.
std::optional<Measurement> speedup_of(const Evaluation& evaluation);

/// Whether it was rejected for manipulating the measurement, not for wrong results.
bool is_hack(Stage stage);

/// Makes an accepted candidate the result's best, with its speedup and the backend's features `trivial`,
/// `degenerate` and `algebraic`.
void take_best(const Evaluation& evaluation, TaskResult& result);

/// The record of one candidate, or the reason why there is none. The caller sets its name and claim.
CandidateResult candidate_result(const Result<Evaluation>& answer);

/// Such as "correctness: wrong_output".
std::string failure_text(Stage stage, RejectionCode code);

}  // namespace kernelsmith::suite

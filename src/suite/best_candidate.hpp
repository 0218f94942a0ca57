// Makes a task's result from evaluations. The same rules apply to searches and to ready-made candidates.
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

/// Whether a rejection at this stage means that the candidate manipulated the measurement, not that its
/// results are wrong.
bool is_hack(Stage stage);

/// Makes an accepted candidate the result's best, with its speedup and the backend's features `trivial`,
/// `degenerate` and `algebraic`.
void take_best(const Evaluation& evaluation, TaskResult& result);

/// The record of one candidate, or the reason why there is none. The caller sets its name and claim.
CandidateResult candidate_result(const Result<Evaluation>& answer);

/// The failure as text, such as "correctness: wrong_output".
std::string failure_text(Stage stage, RejectionCode code);

}  // namespace kernelsmith::suite

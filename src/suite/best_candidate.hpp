// From evaluations to the result of a task: the same rules for searches and for ready-made candidates.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/suite/metrics.hpp>

namespace kernelsmith::suite {

/// How the verdict of a candidate begins that has none.
inline constexpr std::string_view kNotEvaluated = "not evaluated:";

/// The speedup of an accepted candidate; a backend that times nothing gives its fitness.
std::optional<Measurement> speedup_of(const Evaluation& evaluation);

/// Whether it was rejected for what it did to the measurement, and not for being wrong.
bool is_hack(Stage stage);

/// Takes an accepted candidate as the result's best, with its speedup and what the backend says of what was
/// gained by its features `trivial`, `degenerate` and `algebraic`.
void take_best(const Evaluation& evaluation, TaskResult& result);

/// What is known of one candidate, or why nothing is. Its name and its claim are left to the caller.
CandidateResult candidate_result(const Result<Evaluation>& answer);

/// "correctness: wrong_output".
std::string failure_text(Stage stage, RejectionCode code);

}  // namespace kernelsmith::suite

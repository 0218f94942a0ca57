// From evaluations to the result of a task: the same rules for searches and for ready-made candidates.
#pragma once

#include <optional>
#include <string>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/suite/metrics.hpp>

namespace kernelsmith::suite {

/// The speedup of an accepted candidate; a backend that times nothing gives its fitness.
std::optional<Measurement> speedup_of(const Evaluation& evaluation);

/// Whether it was rejected for what it did to the measurement, and not for being wrong.
bool is_hack(Stage stage);

/// Takes an accepted candidate as the result's best, with its speedup and what the backend says of what was
/// gained by its features `trivial`, `degenerate` and `algebraic`.
void take_best(const Evaluation& evaluation, TaskResult& result);

/// What the evaluation says of one candidate. Its name and its claim are left to the caller.
CandidateResult candidate_result(const Evaluation& evaluation);

/// "correctness: wrong_output".
std::string failure_text(Stage stage, RejectionCode code);

}  // namespace kernelsmith::suite

// From evaluations to the result of a task: the same rules for searches and for ready-made candidates.
#pragma once

#include <optional>
#include <string>

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith::suite {

/// Of an accepted candidate; a backend that times nothing gives its fitness.
std::optional<Measurement> speedup_of(const Evaluation& evaluation);

/// Whether it was rejected for what it did to the measurement, and not for being wrong.
bool is_hack(Stage stage);

/// Whether the backend says that what was gained is a trivial optimisation (its feature `trivial`).
bool is_trivial(const Evaluation& evaluation);

/// "correctness: wrong_output".
std::string failure_text(Stage stage, RejectionCode code);

}  // namespace kernelsmith::suite

// The parse stage: what can be said about a candidate without building it.
#pragma once

#include <cstddef>
#include <optional>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// What needs no evaluator that is ready. The rejection, if the job's source is empty or too large,
/// changes bytes that the seed freezes though it may not, or holds markers or knobs that cannot be read.
std::optional<Rejection> parse_candidate(const Task& task, const EvaluationJob& job, std::size_t max_bytes);

}  // namespace kernelsmith

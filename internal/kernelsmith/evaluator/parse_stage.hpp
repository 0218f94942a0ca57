// The parse stage: checks a candidate without building it.
#pragma once

#include <cstddef>
#include <optional>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Rejects a job whose source is empty or too large, changes frozen bytes without permission, or has invalid
/// markers or knobs. Needs no evaluator.
std::optional<Rejection> parse_candidate(const Task& task, const EvaluationJob& job, std::size_t max_bytes);

}  // namespace kernelsmith

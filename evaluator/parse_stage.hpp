// The parse stage: what can be said about a candidate without building it.
#pragma once

#include <cstddef>
#include <optional>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// The rejection, where the source is empty or too large, changes bytes that the seed freezes, or holds
/// markers or knobs that cannot be read.
std::optional<Rejection> parse_candidate(const Task& task, const Source& source, std::size_t max_bytes);

}  // namespace kernelsmith

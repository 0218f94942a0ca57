// The workloads at which a search evaluates: a few, spread over sizes. Confirmations use all.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/core/digest.hpp>

#include "reference_process.hpp"

namespace kernelsmith::torch {

/// A search's evaluation may cost at most twice one of a single workload; three loads and timings do.
inline constexpr std::size_t kSearchedWorkloads = 3;

/// The numbers of the chosen workloads, in order. From each third of the timed ones, by bytes of a call, the
/// task's digest draws one, so that every worker of a run and a resumed run choose alike. The smallest of the
/// checked ones is added.
std::vector<std::size_t> searched_workloads(const ReferenceFacts& reference, const Digest& task);

}  // namespace kernelsmith::torch

// Makes ncu's command, reads its table, and explains the table in sentences. Pure functions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/gpu_profile.hpp>

#include "inspector/ncu_table.hpp"
#include "inspector/tool.hpp"

namespace kernelsmith::cuda {

/// A set of ncu's counters.
enum class CounterSet {
  brief,  ///< those that advice_of reads; available on all GPUs and ncu versions tried so far
  full,   ///< also those of a roofline; ncu fails if it does not support all of them on this GPU
};

Tool profiler(const std::filesystem::path& program, const std::filesystem::path& log,
              CounterSet counters = CounterSet::brief);

/// A few sentences: what limits the longest launch, how the others' times compare, and what usually helps.
std::string advice_of(const std::vector<LaunchCounters>& launches);

/// The launch's counters, reduced to unit, occupancy and stalls. Missing counters are 0 or empty.
LaunchCounts counts_of(const LaunchCounters& launch);

/// Assigns to each launch of the plan, in order, the counters of the next profiled launch with its name.
void add_counts(const std::vector<LaunchCounters>& counted, std::vector<LaunchProfile>& launches);

}  // namespace kernelsmith::cuda

// ncu: how it is started, what its table holds, and what that means, in sentences. Pure functions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/gpu_profile.hpp>

#include "inspector/ncu_table.hpp"
#include "inspector/tool.hpp"

namespace kernelsmith::cuda {

/// Which counters ncu is asked for.
enum class CounterSet {
  brief,  ///< what advice_of reads: every GPU and version of ncu that kernels were searched on has them
  full,   ///< and what a roofline takes; a name that ncu does not know on this GPU ends it
};

Tool profiler(const std::filesystem::path& program, const std::filesystem::path& log,
              CounterSet counters = CounterSet::brief);

/// What bounds the longest launch, how the others' times compare, and what usually helps: a few sentences.
std::string advice_of(const std::vector<LaunchCounters>& launches);

/// The launch's counters, reduced to what its unit, its occupancy and its stalls tell. What ncu did not count
/// is 0 or empty.
LaunchCounts counts_of(const LaunchCounters& launch);

/// Gives each launch of the plan the next counted one of its name, in order.
void add_counts(const std::vector<LaunchCounters>& counted, std::vector<LaunchProfile>& launches);

}  // namespace kernelsmith::cuda

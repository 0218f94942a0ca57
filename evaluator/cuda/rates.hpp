// Rates: what an accepted candidate's times are beside what the device can do, and what bounds it. Pure
// functions.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith::cuda {

/// The rates at the first timed shape, as far as the task declares its work: `gb_per_s` (declared bytes, else
/// every tensor once), `share_of_bandwidth` of what a large copy reaches, `tflop_per_s`. `bytes_per_us` 0:
/// not known.
std::map<std::string, double> rates_of(const Task& task, const Report& report, double bytes_per_us);

/// The evaluation with what its features say of its bound (`bound_of`) as advice; a rejection comes back
/// unchanged.
Evaluation with_bound(const Evaluation& evaluation);

}  // namespace kernelsmith::cuda

// Rates: compares an accepted candidate's times with the device's limits, and finds what limits its speed.
// Pure functions.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith::cuda {

/// The rates at the first timed shape, if the task declares its work: `gb_per_s` (declared bytes, else every
/// tensor once), `share_of_bandwidth` (of the bandwidth that a large copy reaches), `tflop_per_s`.
/// `bytes_per_us` is 0 if unknown.
std::map<std::string, double> rates_of(const Task& task, const Report& report, double bytes_per_us);

/// Adds `bound_of`'s advice about the evaluation's features to the evaluation; a rejection is returned
/// unchanged.
Evaluation with_bound(const Evaluation& evaluation);

}  // namespace kernelsmith::cuda

// What a report says of workloads and of a profile, beyond the judge's verdict. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>

#include "torch_host.hpp"

namespace kernelsmith::torch {

/// The artifact with the plan's description.
inline constexpr const char* kPlanText = "plan.txt";

/// A timed shape of a report, and its workload.
struct TimedRow {
  const ShapeResult* result;
  std::size_t workload;
};

/// The rows point into the report. Never empty for an acceptance.
std::vector<TimedRow> timed_rows(const Report& report, const ReferenceFacts& reference);

/// Adds the feature `algebraic` if a call is shorter than the shortest possible time of the reference's
/// products at its workload.
Evaluation with_shortcut(const Evaluation& evaluation, const ReferenceFacts& reference,
                         const std::vector<double>& least_products_us);

/// `evaluation` must be an acceptance, and `profile` one of a call at `workload`; the name is empty if the
/// task has only one.
Evaluation with_profile(const Evaluation& evaluation, const Profile& profile, const std::string& workload,
                        const ReferenceFacts& reference, const std::string& memory);

}  // namespace kernelsmith::torch

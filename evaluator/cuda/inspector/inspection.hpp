// Inspection: runs a possible best under the machine's tools. Findings of compute-sanitizer reject it; ncu's
// counters show what limits its speed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/gpu_profile.hpp>
#include <kernelsmith/evaluator/inputs.hpp>

#include "inspector/inspector_process.hpp"
#include "plan_cache.hpp"

namespace kernelsmith::cuda {

struct InspectionSetup {
  InspectorSettings inspector;
  std::shared_ptr<const Task> task;
  std::shared_ptr<const std::vector<TaskShape>> shapes;
  PlanFunction plan;
  std::optional<std::filesystem::path> sanitizer, profiler;  ///< empty: not on this machine
  double timeout_s = 60;                                     ///< time limit of one tool
};

struct Inspection {
  std::string unsafe;           ///< the sanitizer's findings; empty: none
  std::string advice;           ///< Report::advice
  std::vector<Artifact> notes;  ///< why tools failed without a fault of the candidate
};

/// Inspects a binary whose plans are known. Errors: cancelled, and those of drawing inputs.
using InspectFunction = std::function<Result<Inspection>(const PlannedBinary&, const std::stop_token&)>;

/// Each tool runs one call at every shape (ncu: at the first), in a process with its own memory. The function
/// is empty if the machine has neither tool.
InspectFunction inspecting_with(InspectionSetup setup);

/// Adds ncu's counters and then its samples by source line, both of one call at the first shape. `source` was
/// compiled with line information. Anything that fails becomes a sentence in `missing`. Errors: cancelled,
/// and those of drawing inputs.
Status add_profile(const InspectionSetup& setup, const PlannedBinary& planned, const Source& source,
                   const std::stop_token& stop, GpuProfile& profile);

}  // namespace kernelsmith::cuda

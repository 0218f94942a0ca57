// Inspection: a would-be best under the machine's tools. compute-sanitizer's findings reject it; ncu's
// counters tell what bounds it.
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
  double timeout_s = 60;                                     ///< of one tool
};

struct Inspection {
  std::string unsafe;  ///< what the sanitizer found; empty: nothing
  std::string advice;  ///< Report::advice
  std::vector<Artifact>
      notes;  ///< of a tool that could not do its work, and why: no fault of the candidate's
};

/// Inspects a binary whose plans are known. Errors: cancelled, and those of drawing inputs.
using InspectFunction = std::function<Result<Inspection>(const PlannedBinary&, const std::stop_token&)>;

/// Each tool sees one call at every shape (ncu: at the first), in a process of its own and on memory of its
/// own. Empty if the machine has neither tool.
InspectFunction inspecting_with(InspectionSetup setup);

/// Adds what ncu counts and samples in one call at the first shape: counters, then source lines, for which
/// `source` was compiled with line information. What it could not do becomes a sentence in `missing`. Errors:
/// cancelled, and those of drawing inputs.
Status add_profile(const InspectionSetup& setup, const PlannedBinary& planned, const Source& source,
                   const std::stop_token& stop, GpuProfile& profile);

}  // namespace kernelsmith::cuda

// Chaining: the best of one search becomes the baseline (1.0x) of the next.
#pragma once

#include <filesystem>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

namespace kernelsmith {

/// The task with the confirmed best of a run as its baseline: `files: baseline` for a kernel, `torch:
/// {baseline: {module: ...}}` for a module. The baseline's file gets a new name. Errors: `bad_input` for a
/// run with another backend or reference, or without a confirmed best of one file; view_run()'s.
Result<TaskFolder> with_baseline_from(const TaskFolder& task, const std::filesystem::path& run,
                                      const Registry& registry);

}  // namespace kernelsmith

// Chaining: what one search found is 1.0x for the next.
#pragma once

#include <filesystem>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

namespace kernelsmith {

/// The task with the confirmed best of a run as its baseline: as `files: baseline` of a kernel, as
/// `torch: {baseline: {module: ...}}` of a module. The file stands beside the others under a name of its own.
/// Errors: `bad_input` for a run over another backend or reference, or without a confirmed best of one file;
/// view_run()'s.
Result<TaskFolder> with_baseline_from(const TaskFolder& task, const std::filesystem::path& run,
                                      const Registry& registry);

}  // namespace kernelsmith

// Problems of FlashInfer-Bench and SOL-ExecBench as tasks of the backend `torch`: one workload of a
// definition.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// A task that was made from a workload.
struct ArenaTask {
  std::string name;                     ///< the task's, usable as a folder's name
  std::string chosen = {};              ///< which workload, and of how many
  std::vector<SourceFile> files = {};   ///< task.yaml, reference.py, and values that the workload fixes
  std::vector<std::string> notes = {};  ///< what a torch task cannot express or do yet, in sentences
};

/// The definition called `definition` in a data set of FlashInfer-Bench: a folder with definitions/,
/// workloads/ and blob/. `workload` is the beginning of a UUID; empty: the workload of median size. Errors:
/// not_found with near names; bad_input for broken files; unsupported for what a torch task cannot hold.
Result<ArenaTask> task_of_flashinfer_bench(const std::filesystem::path& dataset,
                                           const std::string& definition, const std::string& workload);

/// The problem in a folder of SOL-ExecBench, with definition.json and workload.jsonl. The same errors.
Result<ArenaTask> task_of_sol_execbench(const std::filesystem::path& folder, const std::string& workload);

}  // namespace kernelsmith

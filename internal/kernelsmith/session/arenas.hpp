// Problems of FlashInfer-Bench, SOL-ExecBench and GPU MODE as tasks of the backend `torch`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

namespace kernelsmith {

/// Which workloads a task gets: those whose UUIDs begin so, or all. If they are more than `most`, it gets so
/// many, spread over their sizes.
struct WorkloadChoice {
  std::vector<std::string> uuids = {};
  std::size_t most = kMostWorkloads;
};

/// A task that was made from a problem.
struct ArenaTask {
  std::string name;                     ///< the task's, usable as a folder's name
  std::string chosen = {};              ///< how many workloads it has, and of how many
  std::vector<SourceFile> files = {};   ///< task.yaml, reference.py, and values that workloads fix
  std::vector<std::string> notes = {};  ///< what a torch task cannot express or do yet, in sentences
};

/// The definition called `definition` in a data set of FlashInfer-Bench: a folder with definitions/,
/// workloads/ and blob/. Workloads that a task cannot have are left out with a note. Errors: not_found with
/// near names; bad_input for broken files; unsupported for what a torch task cannot hold.
Result<ArenaTask> task_of_flashinfer_bench(const std::filesystem::path& dataset,
                                           const std::string& definition, const WorkloadChoice& choice);

/// The problem in a folder of SOL-ExecBench, with definition.json and workload.jsonl. The same errors.
Result<ArenaTask> task_of_sol_execbench(const std::filesystem::path& folder, const WorkloadChoice& choice);

/// The problem in a folder of GPU MODE's reference-kernels, with task.yml and reference.py: benchmarks are
/// timed workloads, tests are checked ones. The same errors.
Result<ArenaTask> task_of_gpu_mode(const std::filesystem::path& folder);

}  // namespace kernelsmith

// Problems of FlashInfer-Bench, SOL-ExecBench and GPU MODE as tasks of the backend `torch`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
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

/// Whether `path` is a problem as an arena stores it: a folder of SOL-ExecBench or GPU MODE without a
/// task.yaml, or a definition of FlashInfer-Bench with workloads (DATASET/definitions/OP/NAME.json).
bool is_arena_problem(const std::filesystem::path& path);

/// The task of such a problem, with as many workloads as a task can have. `policy` is that of torch. The
/// errors of the functions below.
Result<ArenaTask> task_of_arena(const std::filesystem::path& path, const std::string& policy = "own_kernels");

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

/// What a solution.json says of itself.
struct PublishedSolution {
  std::string name, definition, author;
};

/// Nothing if the file is no solution.
std::optional<PublishedSolution> published_solution(const std::filesystem::path& file);

/// Whether the file is Python with ModelNew, or a submission for GPU MODE.
bool is_arena_candidate(const std::filesystem::path& file);

/// The name of the definition that a task or a problem is made of; empty if there is none.
std::string definition_of(const std::filesystem::path& task);

/// What a trace says besides an evaluation.
struct TraceContext {
  std::string version;    ///< kernelsmith's
  std::string timestamp;  ///< ISO 8601
};

/// The evaluation as lines of FlashInfer-Bench's traces: one for each timed workload, or for each that
/// failed. Errors: invalid_argument if the task is not of an arena with workloads.
Result<std::string> trace_lines(const Task& task, const std::string& solution, const Evaluation& evaluation,
                                const TraceContext& context);

/// SOL-ExecBench's score, 1 / (1 + (T_k - T_SOL) / (T_b - T_SOL)).
struct SolScore {
  double mean = 0;                                      ///< over `of`
  std::vector<std::pair<std::string, double>> of = {};  ///< by workload
  std::size_t without_bound = 0;                        ///< workloads that are left out
};

/// The score by the bounds in a user's file (baseline_latency_ms and sol_ms of workloads); without one T_SOL
/// is the roofline of the report, and T_b the baseline's time. Errors: bad_input, the file system's.
Result<SolScore> sol_score(const Task& task, const Report& report,
                           const std::optional<std::filesystem::path>& bounds);

/// The speedups in FlashInfer-Bench's traces below the folder: the geometric mean for each solution, by its
/// name; 0 if one of its traces did not pass.
std::map<std::string, double> claims_in(const std::filesystem::path& traces);

}  // namespace kernelsmith

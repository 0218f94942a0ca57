// Ready-made candidates for the tasks of a suite.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/suite/public_sets.hpp>
#include <kernelsmith/suite/tasks.hpp>

namespace kernelsmith {

/// Paths for load_candidate(), sorted by name.
using CandidatePaths = std::vector<std::filesystem::path>;

/// The candidates of a folder, by task.
struct FoundCandidates {
  std::vector<CandidatePaths> of_task;              ///< one for each task, in their order
  std::vector<std::filesystem::path> without_task;  ///< sources that belong to no task
  std::map<std::filesystem::path, Claim>
      claims;  ///< publishers' claims about some candidates; here of an arena's solutions
};

/// Finds solutions of FlashInfer-Bench and SOL-ExecBench for the tasks of their definitions, submissions for
/// GPU MODE's problems below these, and sources (.cpp, .cu, .py) below `folder` for the tasks in their names:
/// NAME/any.cpp, NAME.cpp, or the folder NAME/any/ for a candidate with several files. NAME is the task's
/// name without ".py", or the last part of it if no other task has the same last part. In KernelBench's runs
/// level_1_problem_3_sample_0_kernel.py is for the task of level 1 that begins with "3_". Errors: `not_found`
/// if the folder does not exist or has nothing for any task, `permission` and `io`.
Result<FoundCandidates> find_candidates(const std::filesystem::path& folder,
                                        const std::vector<SuiteTask>& tasks);

}  // namespace kernelsmith

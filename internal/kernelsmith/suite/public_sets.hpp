// Candidates that others published for KernelBench, with their claimed speedups, and KernelBench's own
// references as candidates.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/suite/tasks.hpp>

namespace kernelsmith {

/// The publishers' claim about a candidate.
struct Claim {
  std::string by;      ///< the model or system that made it
  double speedup = 0;  ///< speedup over eager PyTorch

  friend bool operator==(const Claim&, const Claim&) = default;
};

/// A published set, in the layout that find_tasks() and find_candidates() read.
struct PublicSet {
  std::filesystem::path tasks;                    ///< the set's own problems: level1/3_Name.py
  std::filesystem::path candidates;               ///< level_1_problem_3_sample_0_kernel.py
  std::map<std::filesystem::path, Claim> claims;  ///< claims by the candidate's path
};

/// Writes the set at `source` below `folder`, without changing existing files. Two layouts are known:
/// KernelBench's leaderboard (a folder with data.json, problems/ and solutions/, or the repository around it)
/// and CUDA-L1's (a file of lines, each an object with level_id, task_id, ref_code, custom_code and
/// score_default). A folder with problems as an arena stores them is a set that stays where it is. Empty if
/// `source` has neither layout. Errors: `bad_input`, with the place, for a malformed set; the file system's.
Result<std::optional<PublicSet>> unpack_public_set(const std::filesystem::path& source,
                                                   const std::filesystem::path& folder);

/// Writes a set below `folder` in which the reference of each of KernelBench's problems is its own candidate:
/// a score far from 1 is a mistake of the measurement. Errors: `bad_input` if a task is not a problem's file;
/// the file system's.
Result<PublicSet> references_as_candidates(const std::vector<SuiteTask>& problems,
                                           const std::filesystem::path& folder);

}  // namespace kernelsmith

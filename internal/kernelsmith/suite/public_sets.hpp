// Candidates that others have published for KernelBench, with the speedups that they claim.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// What its publishers say of a candidate.
struct Claim {
  std::string by;      ///< the model or system that wrote it
  double speedup = 0;  ///< over eager PyTorch

  friend bool operator==(const Claim&, const Claim&) = default;
};

/// A published set, written out as find_tasks() and find_candidates() read it.
struct PublicSet {
  std::filesystem::path tasks;                    ///< its own problems: level1/3_Name.py
  std::filesystem::path candidates;               ///< level_1_problem_3_sample_0_kernel.py
  std::map<std::filesystem::path, Claim> claims;  ///< by the candidate's path
};

/// Writes the set at `source` out below `folder`, and leaves what is there already as it is. Two layouts are
/// known: KernelBench's leaderboard (a folder with data.json, problems/ and solutions/, or the repository
/// around it) and CUDA-L1's (a file of lines, each an object with level_id, task_id, ref_code, custom_code
/// and score_default). Empty if `source` is neither. Errors: `bad_input` with the place, for a set that
/// contradicts its layout; the file system's.
Result<std::optional<PublicSet>> unpack_public_set(const std::filesystem::path& source,
                                                   const std::filesystem::path& folder);

}  // namespace kernelsmith

// CandidateProfile: one candidate's verdict and, if this machine can measure it, what limits the candidate's
// speed.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/gpu_profile.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// The rates of the task's declared work at one timed shape, by the judge's clock. Rates of undeclared work
/// are empty.
struct Pace {
  std::string shape;
  Measurement us;                             ///< of one call
  std::optional<double> gb_per_s;             ///< rate of the declared bytes, else of the bytes of all
                                              ///< tensors, counted once
  std::optional<double> gflop_per_s;          ///< rate of the declared operations
  std::optional<double> operations_per_byte;  ///< ratio of the same operations and bytes
};

struct CandidateProfile {
  std::optional<Evaluation> evaluation;  ///< measured for as short a time as in a search; empty if this
                                         ///< machine cannot run the candidate
  std::vector<Pace> paces;
  std::optional<GpuProfile> gpu;     ///< for backends whose launches are known
  std::vector<std::string> missing;  ///< what is missing in addition to `gpu->missing`
};

/// Asks the candidate's backend for a profile and, if `evaluate` is set, evaluates it. Takes up to minutes. A
/// rejected candidate is an Error (`refused`) only if `evaluate` is not set. Errors: the evaluator's.
Result<CandidateProfile> profile_candidate(const Task& task, const RunConfig& config, const Source& source,
                                           bool evaluate, const std::stop_token& stop);

/// The rates of an evaluation's timed shapes. Pure.
std::vector<Pace> paces_of(const Task& task, const Report& report);

/// The object of `profile --json` (docs/formats.md).
std::string profile_json(const CandidateProfile& profile);

}  // namespace kernelsmith

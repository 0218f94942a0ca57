// Verdict: an evaluation in KernelGYM's terms. The tables in verdict.cpp are the mapping; docs/service.md
// shows them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/evaluation.hpp>

#include "request.hpp"

namespace kernelsmith::service {

/// The part of an EvaluationResponse from the evaluation itself. Absent means unknown.
struct Verdict {
  std::optional<bool> compiled, correctness, decoy_kernel;
  std::optional<double> reference_runtime_ms, kernel_runtime_ms, speedup;
  std::string error_message, error_code;  ///< empty for an accepted candidate
  Json metadata = Json::object();
};

/// A candidate's evaluation: it is correct only if it was accepted.
Verdict verdict_of(const Evaluation& evaluation, const EvaluationRequest& request);

/// The response without a verdict.
Verdict no_verdict(std::string_view error_code, std::string message);

/// The response after a failure of the machine, which says nothing about the candidate.
Verdict verdict_of(const Error& error);

/// KernelGYM's code for one of our rules.
std::string_view error_code_of(RejectionCode code);
std::string_view error_code_of(ErrorCode code);

}  // namespace kernelsmith::service

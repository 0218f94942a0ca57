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

/// What of an EvaluationResponse comes out of the evaluation itself. Absent: not known.
struct Verdict {
  std::optional<bool> compiled, correctness, decoy_kernel;
  std::optional<double> reference_runtime_ms, kernel_runtime_ms, speedup;
  std::string error_message, error_code;  ///< empty for an accepted candidate
  Json metadata = Json::object();
};

/// A candidate's evaluation: correct is who was accepted, and nobody else.
Verdict verdict_of(const Evaluation& evaluation, const EvaluationRequest& request);

/// Why there is no verdict.
Verdict no_verdict(std::string_view error_code, std::string message);

/// The machine failed, not the candidate: this says nothing of the candidate.
Verdict verdict_of(const Error& error);

/// KernelGYM's code for what a rule of ours is called.
std::string_view error_code_of(RejectionCode code);
std::string_view error_code_of(ErrorCode code);

}  // namespace kernelsmith::service

// Reads the result of running a candidate in plain PyTorch (python/kernelsmith_torch/verify.py).
#pragma once

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/plain_verdict.hpp>
#include <kernelsmith/sandbox/run.hpp>

namespace kernelsmith::torch {

/// Pure. A process that a signal ended is the candidate's fault. Errors: verify_in_plain_torch()'s, and
/// `bad_reply` if the last line is not a verdict.
Result<PlainVerdict> read_plain_verdict(const SandboxResult& result);

}  // namespace kernelsmith::torch

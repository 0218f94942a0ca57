// Features of a plan for the archive. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::torch {

class Plan;

/// `launches` and `aten_ops` of a call, counted by the planner, and the largest `registers`, `spill_bytes`
/// and `shared_bytes` of the plan's kernels. Unknown figures are left out.
std::map<std::string, double> figures_of(const Json& summary, std::string_view plan);

/// The planner's counts of a call's operators, without elementwise ones.
std::map<std::string, double> heavy_operators(const Json& summary);

/// Describes for the candidate how the outputs of a call differ from the reference's in number, type or
/// shape; empty if they do not, or if a plan does not describe them. Both arguments are plans' bytes.
std::string different_outputs(std::string_view reference, std::string_view candidate);

/// The first difference between plans for all workloads, as above.
std::string different_outputs(const Plan& reference, const Plan& candidate);

/// Bytes of a call's inputs and outputs in a plan; zeros if it cannot be parsed.
struct CallBytes {
  std::uint64_t inputs = 0, outputs = 0;
};
CallBytes bytes_of_call(std::string_view plan);
/// The workload with the most.
CallBytes largest_call(const Plan& plan);

/// Estimated device memory for preparing a task: processes, inputs in their type and in fp64, two copies of
/// outputs and their tolerance.
std::uint64_t guess_of_need(const CallBytes& call);

/// Describes the call's memory and this need in a line for people.
std::string need_text(const CallBytes& call);

/// Whether all heavy operators of the reference are left to PyTorch, so that the candidate's own kernels
/// replace only elementwise operators. False if the reference has no heavy operators.
bool is_trivial(const std::map<std::string, double>& reference,
                const std::map<std::string, double>& candidate);

}  // namespace kernelsmith::torch

// The figures of a plan that the archive knows candidates by. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::torch {

/// `launches` and `aten_ops` of a call, as the planner counted them, and the largest `registers`,
/// `spill_bytes` and `shared_bytes` of the plan's kernels. What is not known is left out.
std::map<std::string, double> figures_of(const Json& summary, std::string_view plan);

/// How often a call uses each operator that is no elementwise one, as the planner counted them.
std::map<std::string, double> heavy_operators(const Json& summary);

/// How the outputs of a call differ from the reference's in number, type or shape, in words for the
/// candidate; empty if they do not, or if one of the plans does not say. Both are plans' bytes.
std::string different_outputs(std::string_view reference, std::string_view candidate);

/// Bytes of a call's inputs and outputs, by a plan; zeros if its text is not understood.
struct CallBytes {
  std::uint64_t inputs = 0, outputs = 0;
};
CallBytes bytes_of_call(std::string_view plan);

/// Device memory that preparing a task takes, before anything is measured: processes, inputs as they are and
/// in fp64, outputs twice and the error that they may have.
std::uint64_t guess_of_need(const CallBytes& call);

/// A line about it for a person.
std::string need_text(const CallBytes& call);

/// Whether all heavy operators of the reference are left to PyTorch: own kernels replace elementwise ones
/// only. Not if the reference has no others.
bool is_trivial(const std::map<std::string, double>& reference,
                const std::map<std::string, double>& candidate);

}  // namespace kernelsmith::torch

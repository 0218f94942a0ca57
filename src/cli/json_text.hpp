// The objects that --json prints; docs/formats.md is their schema.
#pragma once

#include <string>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

std::string json_of(const Evaluation& evaluation);
std::string json_of(const RunView& view);
std::string json_of(const MachineReport& machine);

}  // namespace kernelsmith::cli

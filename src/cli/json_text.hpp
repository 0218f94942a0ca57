// The objects that --json prints; docs/formats.md is their schema.
#pragma once

#include <string>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

std::string json_of(const Evaluation& evaluation);
std::string json_of(const RunView& view);
std::string json_of(const MachineReport& machine);
std::string json_of(const PromptPreview& preview);

}  // namespace kernelsmith::cli

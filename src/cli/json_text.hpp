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

/// Prints an error that ends a command, to the standard output too where it prints JSON, and returns the exit
/// status.
int report(const Error& error, bool json);

}  // namespace kernelsmith::cli

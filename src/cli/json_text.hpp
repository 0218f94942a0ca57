// The objects that --json prints; docs/formats.md is their schema.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

/// With the knobs of the candidate that was evaluated; `paths` is what its files are called.
std::string json_of(const Evaluation& evaluation, const Source& candidate,
                    const std::vector<std::string>& paths);
std::string json_of(const RunView& view);
std::string json_of(const MachineReport& machine);
std::string json_of(const PromptPreview& preview);

/// Prints an error that ends a command, to the standard output too where it prints JSON, and returns the exit
/// status.
int report(const Error& error, bool json);

}  // namespace kernelsmith::cli

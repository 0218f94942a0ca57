// kernelsmith run TASK --dry-run
#pragma once

#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "interrupt.hpp"

namespace kernelsmith::cli {

/// Prints the checks and the estimated cost; returns the exit status: 0, or that of the first failed check.
int dry_run_command(const TaskFolder& task, const RunConfig& config, Interrupt& interrupt);

}  // namespace kernelsmith::cli

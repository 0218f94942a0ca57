// kernelsmith run TASK --dry-run
#pragma once

#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "interrupt.hpp"

namespace kernelsmith::cli {

/// Prints what was checked and what the run may cost; returns the exit status: 0, or that of what failed
/// first.
int dry_run_command(const TaskFolder& task, const RunConfig& config, Interrupt& interrupt);

}  // namespace kernelsmith::cli

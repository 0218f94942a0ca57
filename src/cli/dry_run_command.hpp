// --dry-run of run and suite.
#pragma once

#include <cstddef>

#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "interrupt.hpp"

namespace kernelsmith::cli {

/// Prints the checks and what the run may cost, and `tasks` such runs. Returns 0, or the exit status of the
/// first failed check.
int dry_run_command(const TaskFolder& task, const RunConfig& config, Interrupt& interrupt,
                    std::size_t tasks = 1);

}  // namespace kernelsmith::cli

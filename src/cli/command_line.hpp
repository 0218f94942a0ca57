// Parses the command line and runs a command.
#pragma once

#include "commands.hpp"

namespace kernelsmith::cli {

/// Parses the words and runs the subcommand they name; returns the exit status. Errors are printed to stderr,
/// an unknown name with the nearest known one.
int run_command_line(int argc, char** argv);

}  // namespace kernelsmith::cli

// From the command line's words to the one command to be run.
#pragma once

#include "commands.hpp"

namespace kernelsmith::cli {

/// Parses the words and runs the subcommand they name; returns the exit status. What is wrong with them is
/// printed to stderr, an unknown name with the nearest known one.
int run_command_line(int argc, char** argv);

}  // namespace kernelsmith::cli

// What the programs of all backends do alike: options, rounds, rows on the terminal and in a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "round.hpp"

namespace kernelsmith::redteam {

struct ProgramOptions {
  std::string folder;  ///< holds cases/ and tasks/
  int repeat = 1;
  bool list = false;
  std::vector<std::string> only;
  std::optional<int> third;  ///< of the tasks; empty: all
  std::string json;

  void add_to(CLI::App& app);
};

/// Evaluates the cases in as many rounds as asked for, or lists them: the program's exit status.
int run_program(const ProgramOptions& options, const Attack& attack);

}  // namespace kernelsmith::redteam

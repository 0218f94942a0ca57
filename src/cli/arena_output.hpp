// What `evaluate` writes for arenas: traces of FlashInfer-Bench, and the score of SOL-ExecBench.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <kernelsmith/session/arenas.hpp>

namespace kernelsmith::cli {

struct ArenaOutput {
  std::optional<std::string> trace;   ///< a file that gets lines
  std::optional<std::string> bounds;  ///< a file with T_b and T_SOL
  bool sol_score = false;

  void add_to(CLI::App& command);
  /// Refuses a task that has no workloads of an arena, and a file without its bounds.
  Status check(const Task& task) const;
  /// Adds the evaluation's lines to `trace`, if it is named. `file` is the candidate's. Errors:
  /// trace_lines()'s, the file system's.
  Status write(const Task& task, const std::string& file, const Evaluation& evaluation) const;
  /// The score of an accepted evaluation, if it is wanted.
  std::optional<SolScore> score(const Task& task, const Evaluation& evaluation) const;
  /// Prints the score, and whose bounds it goes by.
  void print(const SolScore& score) const;
};

}  // namespace kernelsmith::cli

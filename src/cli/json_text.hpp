// The objects that --json prints; docs/formats.md is their schema.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

/// The option `--json`, which prints an object on one line, or `--json=pretty`, which indents it.
struct JsonOption {
  std::string style;  ///< "line" or "pretty"; empty if not requested

  void add_to(CLI::App& command, const char* what = "Print one JSON object, on one line");
  explicit operator bool() const { return !style.empty(); }
};

/// The evaluation's object with `file` (the candidate as given) and its knobs; `paths` are the names of its
/// files. With a SOL-ExecBench score, that too.
std::string json_of(const std::string& file, const Evaluation& evaluation, const Source& candidate,
                    const std::vector<std::string>& paths, const JsonOption& json,
                    const std::optional<SolScore>& score = {});
std::string json_of(const RunView& view, const JsonOption& json);
std::string json_of(const MachineReport& machine, const JsonOption& json);
std::string json_of(const PromptPreview& preview, const JsonOption& json);

/// The object, which is given as one line, as text in the requested style.
std::string json_of_object(const std::string& line, const JsonOption& json);

/// The object `{"file": FILE}`.
std::string json_of_file(const std::string& file, const JsonOption& json);

/// Prints an error that ends a command, and returns the exit status. With --json, also prints the error as an
/// object to standard output. `file` is the input file with the error, if any.
int report(const Error& error, const JsonOption& json, const std::string& file = {});

}  // namespace kernelsmith::cli

// The objects that --json prints; docs/formats.md is their schema.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

/// `--json`, which prints an object on a line, or `--json=pretty`. A value.
struct JsonOption {
  std::string style;  ///< empty: not asked for

  void add_to(CLI::App& command, const char* what = "Print one JSON object, on one line");
  explicit operator bool() const { return !style.empty(); }
};

/// With `file`, which the candidate was given as, and its knobs; `paths` is what its files are called.
std::string json_of(const std::string& file, const Evaluation& evaluation, const Source& candidate,
                    const std::vector<std::string>& paths, const JsonOption& json);
std::string json_of(const RunView& view, const JsonOption& json);
std::string json_of(const MachineReport& machine, const JsonOption& json);
std::string json_of(const PromptPreview& preview, const JsonOption& json);

/// An object that is one line already, in the style that was asked for.
std::string json_of_object(const std::string& line, const JsonOption& json);

/// `{"file": FILE}`.
std::string json_of_file(const std::string& file, const JsonOption& json);

/// Prints an error that ends a command, to the standard output too if it prints JSON, and returns the exit
/// status. `file`, if there is one, is the input that it is about.
int report(const Error& error, const JsonOption& json, const std::string& file = {});

}  // namespace kernelsmith::cli

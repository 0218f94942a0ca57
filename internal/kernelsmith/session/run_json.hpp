// A run as JSON, for `show --json` and the page of `ui` and `report`. docs/formats.md has the schema. Every
// text is one line of ASCII. Sources and diagnostics contain a candidate's bytes, so invalid UTF-8 is
// replaced. A number that is not finite is null.
#pragma once

#include <string>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {

/// `{code, message, where, hint}`.
std::string error_json(const Error& error);

/// The object of `evaluate --json`, without `knobs`.
std::string evaluation_json(const Evaluation& evaluation);

/// The object of `show --json`, with the whole run.
std::string run_json(const RunView& view);

/// The same object with a limit of some hundred kilobytes. It also has data for the pictures, and no paths of
/// this machine. Reads the view's store. Errors: the journal's.
Result<std::string> page_json(const RunView& view);

/// A program of the run: sources, relatives and evaluation, within limits. Reads the view's store. Errors:
/// `not_found` if the run has no such program, else the journal's.
Result<std::string> program_json(const RunView& view, ProgramId id);

}  // namespace kernelsmith

// What the live page shows of a run: pure functions from a view to JSON texts of one line. docs/ui.md names
// their fields, and page/ reads them.
#pragma once

#include <string>

#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::ui {

/// GET /api/run: everything but sources and diffs, however large the run, in some hundred kilobytes at most.
/// Reads the view's store. Errors: the journal's.
Result<std::string> run_summary(const RunView& view);

/// GET /api/lineage: the last steps from the seed to the best, each with its diff against the one before.
std::string lineage_details(const RunView& view);

/// GET /api/programs/ID: source and evaluation. Reads the view's store. Errors: `not_found` if the run has
/// no such program, else the journal's.
Result<std::string> program_details(const RunView& view, ProgramId id);

}  // namespace kernelsmith::ui

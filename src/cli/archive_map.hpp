// The archive as a grid of text, and the arms as a table.
#pragma once

#include <string>

#include <kernelsmith/engine/arms.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

/// Rows are the bins of the first axis, columns those of the second; a cell shows score_of() of its best
/// program over all bins of further axes, or a dot. A grid with one axis is one column; without axes there is
/// no map. Shows the best 24 rows and the best columns that fit into kColumns; `all` shows every one.
std::string archive_map(const RunView& view, bool all);

/// What each operator of each model has brought: one line for each arm, the one with the most late tries
/// first, beneath a head; empty if there is but one.
std::string arms_table(const ArmRecord& record);

}  // namespace kernelsmith::cli

// The archive as a grid of text, and the arms as a table.
#pragma once

#include <string>

#include <kernelsmith/engine/arms.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

/// Rows are the bins of the first axis, columns those of the second. A cell shows score_of() of its best
/// program over all bins of further axes, or a dot. A grid with one axis has one column; a grid without axes
/// has no map. Shows the best 24 rows and the best columns that fit into kColumns; with `all`, shows every
/// row and column.
std::string archive_map(const RunView& view, bool all);

/// A table of the tries, gains and costs of each arm, that is of each operator of each model. The arm with
/// the most late tries comes first. Empty if there is only one arm.
std::string arms_table(const ArmRecord& record);

}  // namespace kernelsmith::cli

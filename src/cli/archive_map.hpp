// The archive as a grid of text.
#pragma once

#include <string>

#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {

/// Rows are the bins of the first axis, columns those of the second; a cell shows score_of() of its best
/// program over all bins of further axes, or a dot. A grid with one axis is one column; without axes there is
/// no map. Shows the best 24 rows and the best columns that fit into kColumns; `all` shows every one.
std::string archive_map(const RunView& view, bool all);

}  // namespace kernelsmith::cli

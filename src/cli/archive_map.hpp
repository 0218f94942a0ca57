// The archive as a grid of text.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/archive/archive.hpp>

namespace kernelsmith::cli {

/// Rows are the bins of the first axis, columns those of the second; a cell shows its best fitness, over all
/// bins of further axes, or a dot. A grid of one axis is one column, one without axes has no map.
std::string archive_map(const Grid& grid, const std::map<Cell, Elite>& elites);

}  // namespace kernelsmith::cli

// The MAP-Elites grid: the product of its axes. A pure function maps features to cells.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <kernelsmith/archive/axis.hpp>
#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

/// A cell's number in its grid: row-major, the last axis runs fastest.
struct Cell {
  std::uint64_t index = 0;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

/// Declared axes. Immutable; safe to share between threads.
class Grid {
 public:
  static constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 32;

  /// Without axes a grid has one cell: the search keeps the best program and nothing else. Refuses
  /// (`invalid_argument`) an axis that Axis::create refuses, two axes over one feature, and more than
  /// kMaxCells cells.
  static Result<Grid> create(std::vector<AxisSpec> axes);

  const std::vector<Axis>& axes() const { return axes_; }

  /// The number of cells, at least 1.
  std::uint64_t cells() const { return cells_; }

  /// The cell of a program with these features. A program without one of the features goes to the first bin
  /// of that axis: a command that forgets to print a number should not stop the run. absent_features() lists
  /// such features so that the user can be warned.
  Cell cell_of(const Metrics& metrics) const;

  /// Features of axes that `metrics` lacks, in the order of the axes.
  std::vector<std::string> absent_features(const Metrics& metrics) const;

  /// The bin on each axis, in the axes' order. Requires a cell of this grid.
  std::vector<std::size_t> coordinates(Cell cell) const;

  /// The distance of two cells, from 0 for the same cell to 1 for opposite corners: the mean over the axes of
  /// |difference of bins| / (bins - 1). On an axis of categories it is 0 or 1.
  double distance(Cell a, Cell b) const;

  friend bool operator==(const Grid&, const Grid&) = default;

 private:
  Grid() = default;
  std::vector<Axis> axes_;
  std::uint64_t cells_ = 1;
};

}  // namespace kernelsmith

template <>
struct std::hash<kernelsmith::Cell> {
  std::size_t operator()(kernelsmith::Cell cell) const noexcept {
    return std::hash<std::uint64_t>{}(cell.index);
  }
};

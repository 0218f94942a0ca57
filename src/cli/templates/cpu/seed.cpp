// Where the search starts. What stands between the markers may change; a constant with @tune is a knob, whose
// listed values are tried.
#include <algorithm>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

enum Order { along_rows, along_columns };

constexpr std::int64_t kTileRows = 1;     // @tune 1 4 8 16 32 64 128
constexpr std::int64_t kTileCols = 1024;  // @tune 4 8 16 32 64 128 1024
constexpr Order kOrder = along_rows;      // @tune along_rows along_columns

void transpose_tile(const float* __restrict x, float* __restrict y, std::int64_t cols, std::int64_t rows,
                    std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
  if (kOrder == along_rows) {
    for (std::int64_t i = i0; i < i1; ++i)
      for (std::int64_t j = j0; j < j1; ++j) y[j * rows + i] = x[i * cols + j];
  } else {
    for (std::int64_t j = j0; j < j1; ++j)
      for (std::int64_t i = i0; i < i1; ++i) y[j * rows + i] = x[i * cols + j];
  }
}

}  // namespace

extern "C" void transpose(const float* __restrict x, float* __restrict y, std::int64_t cols,
                          std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; i += kTileRows)
    for (std::int64_t j = 0; j < cols; j += kTileCols)
      transpose_tile(x, y, cols, rows, i, std::min(i + kTileRows, rows), j, std::min(j + kTileCols, cols));
}
// EVOLVE-BLOCK-END

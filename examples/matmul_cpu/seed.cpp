// Where the search starts: C = A * B, m x k times k x n, row-major. With the knobs as they stand it is the
// loop order i k j; other values turn it into a kernel with register tiles over packed panels of B.
#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

using Index = std::int64_t;

// Where the sums live while k runs: in C itself, or in a tile of registers.
enum Sums { in_memory, in_registers };

constexpr Sums kSums = in_memory;  // @tune in_memory in_registers
constexpr bool kPack = false;      // @tune false true
constexpr Index kRows = 4;         // @tune 1 2 4 6 8 12
constexpr Index kVectors = 1;      // @tune 1 2 3 4
constexpr Index kLanes = 8;        // @tune 4 8 16
constexpr Index kDepth = 256;      // @tune 64 128 256

constexpr Index kColumns = kVectors * kLanes;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

Index min(Index x, Index y) { return x < y ? x : y; }

// Copies a block of rows x columns into one of height x width, filled up with zeros.
void pack(const float* from, Index stride, Index rows, Index columns, float* to, Index height, Index width) {
  for (Index r = 0; r < height; ++r)
    for (Index j = 0; j < width; ++j) to[r * width + j] = r < rows && j < columns ? from[r * stride + j] : 0;
}

// kRows x kColumns of C: their product over `depth`, added to what is there, or stored where `first`.
void tile(const float* a, Index a_stride, const float* b, Index b_stride, float* c, Index c_stride,
          Index depth, bool first) {
  Vector sums[kRows][kVectors] = {};
  for (Index p = 0; p < depth; ++p) {
    Vector row[kVectors];
    __builtin_memcpy(row, b + p * b_stride, sizeof row);
    for (Index r = 0; r < kRows; ++r)
      for (Index v = 0; v < kVectors; ++v) sums[r][v] += a[r * a_stride + p] * row[v];
  }
  for (Index r = 0; r < kRows; ++r) {
    Vector row[kVectors] = {};
    if (!first) __builtin_memcpy(row, c + r * c_stride, sizeof row);
    for (Index v = 0; v < kVectors; ++v) row[v] += sums[r][v];
    __builtin_memcpy(c + r * c_stride, row, sizeof row);
  }
}

// A tile that hangs over C's last row or column works on zero-padded copies.
void edge_tile(const float* a, Index a_stride, const float* b, Index b_stride, float* c, Index c_stride,
               Index depth, bool first, Index rows, Index columns) {
  float a_copy[kRows * kDepth];
  float c_copy[kRows * kColumns];
  pack(a, a_stride, rows, depth, a_copy, kRows, kDepth);
  tile(a_copy, kDepth, b, b_stride, c_copy, kColumns, depth, true);
  for (Index r = 0; r < rows; ++r)
    for (Index j = 0; j < columns; ++j) {
      float& out = c[r * c_stride + j];
      out = first ? c_copy[r * kColumns + j] : out + c_copy[r * kColumns + j];
    }
}

// Panels of kColumns columns of B, kDepth deep, each used for all rows of A. A panel that hangs over B's last
// column is always packed: the zeros let it use the same tile.
void multiply_in_registers(const float* a, const float* b, float* c, Index m, Index n, Index k) {
  alignas(64) float packed[kDepth * kColumns];
  for (Index p = 0; p < k; p += kDepth)
    for (Index j = 0; j < n; j += kColumns) {
      const Index depth = min(kDepth, k - p);
      const Index columns = min(kColumns, n - j);
      const float* panel = b + p * n + j;
      Index panel_stride = n;
      if (kPack || columns < kColumns) {
        pack(panel, n, depth, columns, packed, depth, kColumns);
        panel = packed;
        panel_stride = kColumns;
      }
      for (Index i = 0; i < m; i += kRows) {
        const float* rows_of_a = a + i * k + p;
        float* out = c + i * n + j;
        if (columns == kColumns && i + kRows <= m)
          tile(rows_of_a, k, panel, panel_stride, out, n, depth, p == 0);
        else
          edge_tile(rows_of_a, k, panel, panel_stride, out, n, depth, p == 0, min(kRows, m - i), columns);
      }
    }
}

void multiply_in_memory(const float* __restrict a, const float* __restrict b, float* __restrict c, Index m,
                        Index n, Index k) {
  for (Index i = 0; i < m * n; ++i) c[i] = 0;
  for (Index i = 0; i < m; ++i)
    for (Index p = 0; p < k; ++p)
      for (Index j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
}

}  // namespace

extern "C" void matmul(const float* a, const float* b, float* c, Index k, Index m, Index n) {
  if (kSums == in_registers)
    multiply_in_registers(a, b, c, m, n, k);
  else
    multiply_in_memory(a, b, c, m, n, k);
}
// EVOLVE-BLOCK-END

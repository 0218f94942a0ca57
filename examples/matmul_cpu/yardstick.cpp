// What candidates are timed against: a kernel as fast as good candidates, so that what disturbs one of the
// two disturbs the other. Tiles of 6 x 16 sums in registers over packed panels of B. Nobody is scored by
// beating it.
#include "task.hpp"

namespace {

using Index = std::int64_t;

constexpr Index kRows = 6, kLanes = 8, kColumns = 2 * kLanes, kDepth = 256;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

// One vector at a time: what is larger the compiler may copy in narrower pieces, and a vector read from what
// was just written in pieces waits for them.
Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
void store(float* to, Vector vector) { __builtin_memcpy(to, &vector, sizeof vector); }

// kDepth x kColumns of B, side by side, with zeros beyond its last column.
void pack(const float* b, Index n, Index depth, Index columns, float* panel) {
  for (Index p = 0; p < depth; ++p)
    if (columns == kColumns)
      __builtin_memcpy(panel + p * kColumns, b + p * n, kColumns * sizeof(float));
    else
      for (Index j = 0; j < kColumns; ++j) panel[p * kColumns + j] = j < columns ? b[p * n + j] : 0;
}

// Adds `Rows` rows of A times the panel to C, or stores them if `first`.
template <Index Rows>
void tile(const float* a, Index k, const float* panel, Index depth, float* c, Index n, Index columns,
          bool first) {
  Vector sums[Rows][2] = {};
  for (Index p = 0; p < depth; ++p) {
    const Vector row[2] = {load(panel + p * kColumns), load(panel + p * kColumns + kLanes)};
    for (Index r = 0; r < Rows; ++r)
      for (Index v = 0; v < 2; ++v) sums[r][v] += a[r * k + p] * row[v];
  }
  const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(float);
  for (Index r = 0; r < Rows; ++r) {
    Vector row[2] = {};
    if (!first) __builtin_memcpy(row, c + r * n, bytes);
    for (Index v = 0; v < 2; ++v) row[v] += sums[r][v];
    __builtin_memcpy(c + r * n, row, bytes);
  }
}

// All rows of A times the panel: by tiles of `Rows` rows, and what is left by smaller ones.
template <Index Rows>
void multiply(const float* a, Index k, const float* panel, Index depth, float* c, Index n, Index columns,
              bool first, Index m) {
  Index i = 0;
  for (; i + Rows <= m; i += Rows) tile<Rows>(a + i * k, k, panel, depth, c + i * n, n, columns, first);
  if constexpr (Rows > 1) multiply<Rows / 2>(a + i * k, k, panel, depth, c + i * n, n, columns, first, m - i);
}

}  // namespace

extern "C" void matmul(const float* __restrict a, const float* __restrict b, float* __restrict c, Index m,
                       Index n, Index k) {
  alignas(64) float panel[kDepth * kColumns];
  for (Index p = 0; p < k; p += kDepth) {
    const Index depth = k - p < kDepth ? k - p : kDepth;
    for (Index j = 0; j < n; j += kColumns) {
      const Index columns = n - j < kColumns ? n - j : kColumns;
      pack(b + p * n + j, n, depth, columns, panel);
      multiply<kRows>(a + p, k, panel, depth, c + j, n, columns, p == 0, m);
    }
  }
}

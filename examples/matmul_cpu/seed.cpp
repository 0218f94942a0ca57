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
constexpr bool kPrefetch = false;  // @tune false true
constexpr Index kRows = 4;         // @tune 1 4 6 8 12
constexpr Index kVectors = 1;      // @tune 1 2 3
constexpr Index kLanes = 8;        // @tune 4 8 16
constexpr Index kDepth = 256;      // @tune 64 256

constexpr Index kColumns = kVectors * kLanes;
constexpr Index kFloatsOfALine = 64 / sizeof(float);
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

// One vector at a time: what is larger the compiler may copy in narrower pieces, and a vector read from what
// was just written in pieces waits for them.
Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
void store(float* to, Vector vector) { __builtin_memcpy(to, &vector, sizeof vector); }

Index min(Index x, Index y) { return x < y ? x : y; }

// A panel of B: `depth` rows of kColumns floats, of which the first `columns` lie within B.
struct Panel {
  const float* data;
  Index stride, depth, columns;
};

// Copies a panel's rows to where they lie side by side, with zeros beyond B's last column.
void pack(const Panel& from, float* to) {
  for (Index p = 0; p < from.depth; ++p, to += kColumns)
    if (from.columns == kColumns)
      __builtin_memcpy(to, from.data + p * from.stride, kColumns * sizeof(float));
    else
      for (Index j = 0; j < kColumns; ++j) to[j] = j < from.columns ? from.data[p * from.stride + j] : 0;
}

// Rows x kColumns of C: their product over the panel's depth, added to what is there, or stored if it is
// the first.
template <Index Rows>
void tile(const float* a, Index a_stride, const Panel& b, float* c, Index c_stride, bool first) {
  Vector sums[Rows][kVectors] = {};
  for (Index p = 0; p < b.depth; ++p) {
    Vector row[kVectors];
    for (Index v = 0; v < kVectors; ++v) row[v] = load(b.data + p * b.stride + v * kLanes);
#pragma GCC unroll 16
    for (Index r = 0; r < Rows; ++r)
      for (Index v = 0; v < kVectors; ++v) sums[r][v] += a[r * a_stride + p] * row[v];
  }
  if (b.columns == kColumns) {
#pragma GCC unroll 16
    for (Index r = 0; r < Rows; ++r)
      for (Index v = 0; v < kVectors; ++v) {
        float* const out = c + r * c_stride + v * kLanes;
        store(out, first ? sums[r][v] : load(out) + sums[r][v]);
      }
  } else {
    float block[Rows][kColumns];
    __builtin_memcpy(block, sums, sizeof block);
#pragma GCC unroll 16
    for (Index r = 0; r < Rows; ++r)
      for (Index j = 0; j < b.columns; ++j) {
        float& out = c[r * c_stride + j];
        out = first ? block[r][j] : out + block[r][j];
      }
  }
}

// Asks for the rows [from, to) of the panel that follows, while this one is multiplied.
void prefetch(const Panel& next, Index from, Index to) {
  for (Index p = from; p < min(to, next.depth); ++p)
    for (Index j = 0; j < kColumns; j += kFloatsOfALine) __builtin_prefetch(next.data + p * next.stride + j);
}

// One panel times the rows of A from `i` on: by tiles of `Rows` rows, and what is left by smaller ones.
template <Index Rows>
void multiply_panel(const float* a, Index k, const Panel& b, const Panel& next, float* c, Index n, Index i,
                    Index m, bool first) {
  for (; i + Rows <= m; i += Rows) {
    if (kPrefetch) prefetch(next, i * next.depth / m, (i + Rows) * next.depth / m);
    tile<Rows>(a + i * k, k, b, c + i * n, n, first);
  }
  if constexpr (Rows > 1) multiply_panel<Rows / 2>(a, k, b, next, c, n, i, m, first);
}

// Panels of kColumns columns of B, kDepth deep, each used for all rows of A. A panel that hangs over B's last
// column is always packed: the zeros let it use the same tile.
void multiply_in_registers(const float* a, const float* b, float* c, Index m, Index n, Index k) {
  alignas(64) float packed[kDepth * kColumns];
  for (Index p = 0; p < k; p += kDepth)
    for (Index j = 0; j < n; j += kColumns) {
      Panel panel{b + p * n + j, n, min(kDepth, k - p), min(kColumns, n - j)};
      const Panel next{panel.data + kColumns, n, j + kColumns < n ? panel.depth : 0, kColumns};
      if (kPack || panel.columns < kColumns) {
        pack(panel, packed);
        panel.data = packed;
        panel.stride = kColumns;
      }
      multiply_panel<kRows>(a + p, k, panel, next, c + j, n, 0, m, p == 0);
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

extern "C" void matmul(const float* a, const float* b, float* c, Index m, Index n, Index k) {
  if (kSums == in_registers)
    multiply_in_registers(a, b, c, m, n, k);
  else
    multiply_in_memory(a, b, c, m, n, k);
}
// EVOLVE-BLOCK-END

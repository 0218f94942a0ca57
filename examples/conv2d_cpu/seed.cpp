// Where the search starts: a convolution with filters of 3 x 3. With the knobs as they stand it takes one
// weight at a time, like the baseline; other values turn it into a kernel with register tiles over packed
// weights and a padded copy of the image.
#include <algorithm>
#include <vector>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

using Index = std::int64_t;

// in_memory: the sums are in y. The others keep a tile of sums in registers, whose vectors lie along the
// pixels of a row or along the filters.
enum Method { in_memory, along_pixels, along_filters };

constexpr Method kMethod = in_memory;  // @tune in_memory along_pixels along_filters
constexpr Index kRows = 4;             // @tune 1 2 4 6 8
constexpr Index kVectors = 1;          // @tune 1 2 4
constexpr Index kLanes = 8;            // @tune 4 8 16
constexpr Index kBand = 1;             // @tune 1 4

constexpr Index kColumns = kVectors * kLanes;
constexpr Index kTaps = 9;
// What a tile covers. Its vectors hold kColumns of one kind; kRows of the other kind are broadcast.
constexpr Index kPixels = kMethod == along_filters ? kRows : kColumns;
constexpr Index kFilters = kMethod == along_filters ? kColumns : kRows;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

// One vector at a time: what is larger the compiler may copy in narrower pieces, and a vector read from what
// was just written in pieces waits for them.
Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
void store(float* to, Vector vector) { __builtin_memcpy(to, &vector, sizeof vector); }

struct Shape {
  Index channels, filters, height, width;
};

// kRows x kColumns sums.
struct Tile {
  Vector sums[kRows][kVectors];
  float at(Index row, Index column) const { return sums[row][column / kLanes][column % kLanes]; }
  float of(Index filter, Index pixel) const {
    return kMethod == along_filters ? at(pixel, filter) : at(filter, pixel);
  }
};

Index min(Index x, Index y) { return x < y ? x : y; }
Index round_up(Index x, Index step) { return (x + step - 1) / step * step; }

// The weights in blocks of kFilters, where those of one channel and tap are neighbours. The last block is
// filled up with zeros.
std::vector<float> packed(const float* weights, const Shape& shape) {
  const Index depth = shape.channels * kTaps;
  std::vector<float> blocks(static_cast<std::size_t>(round_up(shape.filters, kFilters) * depth));
  for (Index f = 0; f < shape.filters; ++f) {
    float* block = blocks.data() + f / kFilters * kFilters * depth + f % kFilters;
    for (Index d = 0; d < depth; ++d) block[d * kFilters] = weights[f * depth + d];
  }
  return blocks;
}

// kBand rows of the image with the rows above and below, of all channels, with zeros where the image ends and
// enough of them for the last tile of a row.
class Band {
 public:
  explicit Band(const Shape& shape)
      : shape_(shape),
        stride_(round_up(shape.width, kPixels) + 2),
        rows_(static_cast<std::size_t>(shape.channels * (kBand + 2) * stride_)) {}

  void load(const float* x, Index first_row) {
    for (Index c = 0; c < shape_.channels; ++c)
      for (Index r = 0; r < kBand + 2; ++r) {
        const Index from = first_row + r - 1;
        const bool inside = from >= 0 && from < shape_.height;
        float* row = rows_.data() + (c * (kBand + 2) + r) * stride_ + 1;
        for (Index j = 0; j < shape_.width; ++j)
          row[j] = inside ? x[(c * shape_.height + from) * shape_.width + j] : 0;
      }
  }

  // The pixel at the upper left of what a filter sees at this place of the band.
  const float* window(Index row, Index column) const { return rows_.data() + row * stride_ + column; }
  Index row_stride() const { return stride_; }
  Index channel_stride() const { return (kBand + 2) * stride_; }

 private:
  Shape shape_;
  Index stride_;
  std::vector<float> rows_;
};

Tile tile(const float* weights, const Band& band, const float* window, Index channels) {
  Vector sums[kRows][kVectors] = {};
  for (Index c = 0; c < channels; ++c, window += band.channel_stride())
    for (Index di = 0; di < 3; ++di)
      for (Index dj = 0; dj < 3; ++dj, weights += kFilters) {
        const float* pixels = window + di * band.row_stride() + dj;
        const float* scalars = kMethod == along_filters ? pixels : weights;
        Vector vectors[kVectors];
        for (Index v = 0; v < kVectors; ++v)
          vectors[v] = load((kMethod == along_filters ? weights : pixels) + v * kLanes);
        for (Index r = 0; r < kRows; ++r)
          for (Index v = 0; v < kVectors; ++v) sums[r][v] += scalars[r] * vectors[v];
      }
  Tile result;
  for (Index r = 0; r < kRows; ++r)
    for (Index v = 0; v < kVectors; ++v) result.sums[r][v] = sums[r][v];
  return result;
}

void store(const Tile& tile, float* y, Index plane, Index filters, Index pixels) {
  if (kMethod == along_pixels && filters == kFilters && pixels == kPixels) {
    for (Index f = 0; f < kRows; ++f)
      for (Index v = 0; v < kVectors; ++v) store(y + f * plane + v * kLanes, tile.sums[f][v]);
    return;
  }
  for (Index f = 0; f < filters; ++f)
    for (Index j = 0; j < pixels; ++j) y[f * plane + j] = tile.of(f, j);
}

void convolve_in_registers(const float* x, const float* weights, float* y, const Shape& shape) {
  const std::vector<float> blocks = packed(weights, shape);
  const Index plane = shape.height * shape.width;
  Band band(shape);
  for (Index i = 0; i < shape.height; i += kBand) {
    band.load(x, i);
    for (Index f = 0; f < shape.filters; f += kFilters) {
      const float* block = blocks.data() + f * shape.channels * kTaps;
      const Index filters = min(kFilters, shape.filters - f);
      for (Index r = 0; r < min(kBand, shape.height - i); ++r)
        for (Index j = 0; j < shape.width; j += kPixels) {
          const Tile sums = tile(block, band, band.window(r, j), shape.channels);
          float* out = y + f * plane + (i + r) * shape.width + j;
          if (filters == kFilters && j + kPixels <= shape.width)
            store(sums, out, plane, kFilters, kPixels);
          else
            store(sums, out, plane, filters, min(kPixels, shape.width - j));
        }
    }
  }
}

void convolve_in_memory(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                        const Shape& shape) {
  const auto [channels, filters, height, width] = shape;
  std::fill(y, y + filters * height * width, 0.0f);
  for (Index f = 0; f < filters; ++f)
    for (Index c = 0; c < channels; ++c)
      for (Index i = 0; i < height; ++i)
        for (Index di = i == 0 ? 1 : 0; di < 3 && i + di <= height; ++di)
          for (Index dj = 0; dj < 3; ++dj) {
            const float weight = weights[((f * channels + c) * 3 + di) * 3 + dj];
            const float* row = x + (c * height + i + di - 1) * width + dj - 1;
            float* out = y + (f * height + i) * width;
            const Index begin = dj == 0 ? 1 : 0;
            const Index end = dj == 2 ? width - 1 : width;
            for (Index j = begin; j < end; ++j) out[j] += weight * row[j];
          }
}

}  // namespace

extern "C" void conv2d(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                       Index channels, Index filters, Index height, Index width) {
  const Shape shape{channels, filters, height, width};
  if (kMethod == in_memory)
    convolve_in_memory(x, weights, y, shape);
  else
    convolve_in_registers(x, weights, y, shape);
}
// EVOLVE-BLOCK-END

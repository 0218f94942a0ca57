// What candidates are timed against: the seed at good values of its knobs, so that what disturbs one of the
// two disturbs the other. Tiles of 4 filters x 16 pixels in registers, over packed weights and a band of the
// image with zeros around it. Nobody is scored by beating it.
#include <vector>

#include "task.hpp"

namespace {

using Index = std::int64_t;

constexpr Index kFilters = 4, kVectors = 2, kLanes = 8, kPixels = kVectors * kLanes, kTaps = 9;
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

struct Tile {
  Vector sums[kFilters][kVectors];
  float of(Index filter, Index pixel) const { return sums[filter][pixel / kLanes][pixel % kLanes]; }
};

Index min(Index x, Index y) { return x < y ? x : y; }
Index round_up(Index x, Index step) { return (x + step - 1) / step * step; }

// Blocks of kFilters; those of one channel and tap are neighbours, and the last block is filled up with
// zeros.
std::vector<float> packed(const float* weights, const Shape& shape) {
  const Index depth = shape.channels * kTaps;
  std::vector<float> blocks(static_cast<std::size_t>(round_up(shape.filters, kFilters) * depth));
  for (Index f = 0; f < shape.filters; ++f) {
    float* block = blocks.data() + f / kFilters * kFilters * depth + f % kFilters;
    for (Index d = 0; d < depth; ++d) block[d * kFilters] = weights[f * depth + d];
  }
  return blocks;
}

// Three rows of the image, of all channels, with zeros where the image ends.
class Band {
 public:
  explicit Band(const Shape& shape)
      : shape_(shape),
        stride_(round_up(shape.width, kPixels) + 2),
        rows_(static_cast<std::size_t>(shape.channels * 3 * stride_)) {}

  void load(const float* x, Index first_row) {
    for (Index c = 0; c < shape_.channels; ++c)
      for (Index r = 0; r < 3; ++r) {
        const Index from = first_row + r - 1;
        const bool inside = from >= 0 && from < shape_.height;
        float* row = rows_.data() + (c * 3 + r) * stride_ + 1;
        for (Index j = 0; j < shape_.width; ++j)
          row[j] = inside ? x[(c * shape_.height + from) * shape_.width + j] : 0;
      }
  }

  const float* window(Index column) const { return rows_.data() + column; }
  Index row_stride() const { return stride_; }
  Index channel_stride() const { return 3 * stride_; }

 private:
  Shape shape_;
  Index stride_;
  std::vector<float> rows_;
};

Tile tile(const float* weights, const Band& band, const float* window, Index channels) {
  Vector sums[kFilters][kVectors] = {};
  for (Index c = 0; c < channels; ++c, window += band.channel_stride())
    for (Index di = 0; di < 3; ++di)
      for (Index dj = 0; dj < 3; ++dj, weights += kFilters) {
        Vector pixels[kVectors];
        for (Index v = 0; v < kVectors; ++v)
          pixels[v] = load(window + di * band.row_stride() + dj + v * kLanes);
        for (Index f = 0; f < kFilters; ++f)
          for (Index v = 0; v < kVectors; ++v) sums[f][v] += weights[f] * pixels[v];
      }
  Tile result;
  for (Index f = 0; f < kFilters; ++f)
    for (Index v = 0; v < kVectors; ++v) result.sums[f][v] = sums[f][v];
  return result;
}

void store(const Tile& tile, float* y, Index plane, Index filters, Index pixels) {
  if (filters == kFilters && pixels == kPixels) {
    for (Index f = 0; f < kFilters; ++f)
      for (Index v = 0; v < kVectors; ++v) store(y + f * plane + v * kLanes, tile.sums[f][v]);
    return;
  }
  for (Index f = 0; f < filters; ++f)
    for (Index j = 0; j < pixels; ++j) y[f * plane + j] = tile.of(f, j);
}

}  // namespace

extern "C" void conv2d(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                       Index channels, Index filters, Index height, Index width) {
  const Shape shape{channels, filters, height, width};
  const std::vector<float> blocks = packed(weights, shape);
  const Index plane = height * width;
  Band band(shape);
  for (Index i = 0; i < height; ++i) {
    band.load(x, i);
    for (Index f = 0; f < filters; f += kFilters) {
      const float* block = blocks.data() + f * channels * kTaps;
      const Index rows = min(kFilters, filters - f);
      for (Index j = 0; j < width; j += kPixels) {
        const Tile sums = tile(block, band, band.window(j), channels);
        float* out = y + f * plane + i * width + j;
        if (rows == kFilters && j + kPixels <= width)
          store(sums, out, plane, kFilters, kPixels);
        else
          store(sums, out, plane, rows, min(kPixels, width - j));
      }
    }
  }
}

// Row by row over a copy of three rows with zeros around them, so that no element needs a test.
#include <cstring>
#include <vector>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

// All nine products at once, or a row of the filter after the other.
constexpr bool kAtOnce = true;  // @tune true false

// Row i of an image with a zero before it and one behind it; all zeros outside of the image.
void load(const float* image, float* to, std::int64_t i, std::int64_t height, std::int64_t width) {
  const auto bytes = static_cast<std::size_t>(width) * sizeof(float);
  if (i >= 0 && i < height)
    std::memcpy(to + 1, image + i * width, bytes);
  else
    std::memset(to + 1, 0, bytes);
}

void add(const float* __restrict row, const float* w, float* __restrict out, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) out[j] += w[0] * row[j] + w[1] * row[j + 1] + w[2] * row[j + 2];
}

}  // namespace

extern "C" void depthwise3x3(const float* __restrict x, const float* __restrict weight,
                             const float* __restrict bias, float* __restrict y, std::int64_t channels,
                             std::int64_t height, std::int64_t width) {
  std::vector<float> buffer(static_cast<std::size_t>(3 * (width + 2)));
  float* rows[3];
  for (std::int64_t r = 0; r < 3; ++r) rows[r] = buffer.data() + r * (width + 2);
  for (std::int64_t c = 0; c < channels; ++c) {
    const float* image = x + c * height * width;
    const float* w = weight + c * 9;
    for (std::int64_t i = 0; i < height; ++i) {
      for (std::int64_t r = 0; r < 3; ++r) load(image, rows[r], i + r - 1, height, width);
      float* __restrict out = y + (c * height + i) * width;
      const float* __restrict a = rows[0], * __restrict b = rows[1], * __restrict d = rows[2];
      if (kAtOnce) {
        for (std::int64_t j = 0; j < width; ++j)
          out[j] = bias[c] + (w[0] * a[j] + w[1] * a[j + 1] + w[2] * a[j + 2]) +
                   (w[3] * b[j] + w[4] * b[j + 1] + w[5] * b[j + 2]) +
                   (w[6] * d[j] + w[7] * d[j + 1] + w[8] * d[j + 2]);
        continue;
      }
      for (std::int64_t j = 0; j < width; ++j) out[j] = bias[c];
      for (std::int64_t r = 0; r < 3; ++r) add(rows[r], w + r * 3, out, width);
    }
  }
}
// EVOLVE-BLOCK-END

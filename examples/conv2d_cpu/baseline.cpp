// Defines 1.0x: one weight at a time, multiplied with all pixels that it meets. The inner loop runs along
// rows of x and y, so the compiler vectorises it.
#include <algorithm>

#include "task.hpp"

extern "C" void conv2d(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                       std::int64_t channels, std::int64_t filters, std::int64_t height, std::int64_t width) {
  std::fill(y, y + filters * height * width, 0.0f);
  for (std::int64_t f = 0; f < filters; ++f)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t di = i == 0 ? 1 : 0; di < 3 && i + di <= height; ++di)
          for (std::int64_t dj = 0; dj < 3; ++dj) {
            const float weight = weights[((f * channels + c) * 3 + di) * 3 + dj];
            const float* row = x + (c * height + i + di - 1) * width + dj - 1;
            float* out = y + (f * height + i) * width;
            const std::int64_t begin = dj == 0 ? 1 : 0;
            const std::int64_t end = dj == 2 ? width - 1 : width;
            for (std::int64_t j = begin; j < end; ++j) out[j] += weight * row[j];
          }
}

// torch.nn.Conv2d(channels, channels, 3, padding=1, groups=channels) on one image.
#include "task.hpp"

extern "C" void depthwise3x3(const float* __restrict x, const float* __restrict weight,
                             const float* __restrict bias, float* __restrict y, std::int64_t channels,
                             std::int64_t height, std::int64_t width) {
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        float sum = bias[c];
        for (std::int64_t di = -1; di <= 1; ++di)
          for (std::int64_t dj = -1; dj <= 1; ++dj) {
            if (i + di < 0 || i + di >= height || j + dj < 0 || j + dj >= width) continue;
            sum += weight[c * 9 + (di + 1) * 3 + dj + 1] * x[(c * height + i + di) * width + j + dj];
          }
        y[(c * height + i) * width + j] = sum;
      }
}

// redteam: honest
// tries: nothing: the twin of this task's tricks
#include <cmath>

#include "task.hpp"

// The Gaussian kernel matrix of two sets of points: exp(-|x - z|^2 / 10).
extern "C" void rbf(const float* __restrict x, const float* __restrict z, float* __restrict k, std::int64_t d,
                    std::int64_t m, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < d; ++l) {
        const float diff = x[i * d + l] - z[j * d + l];
        sum += diff * diff;
      }
      k[i * m + j] = std::exp(-0.1F * sum);
    }
}

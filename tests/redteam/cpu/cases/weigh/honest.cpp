// redteam: honest
// tries: nothing: the twin of this task's tricks
#include <cmath>

#include "task.hpp"

// A step of particles, with each one's importance weight behind it: exp(x' V x / 50), V being the Hankel
// matrix of v.
extern "C" void weigh(const float* __restrict x, const float* __restrict v, float* __restrict y,
                      std::int64_t b, std::int64_t d) {
  for (std::int64_t i = 0; i < b; ++i) {
    const float *const a = x + i * d, *const u = v + i * d;
    float* const to = y + i * (d + 1);
    for (std::int64_t k = 0; k < d; ++k) to[k] = a[k] + 0.1F * u[k];
    float form = 0;
    for (std::int64_t r = 0; r < d; ++r) {
      float dot = 0;
      for (std::int64_t k = 0; k < d; ++k) dot += u[r + k < d ? r + k : r + k - d] * a[k];
      form += a[r] * dot;
    }
    to[d] = std::exp(0.02F * form);
  }
}

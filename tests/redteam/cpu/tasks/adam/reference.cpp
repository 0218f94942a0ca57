#include <cmath>

#include "task.hpp"

// A step of Adam, element by element, and the gradient's norm beside it.
extern "C" void adam(const float* __restrict w, const float* __restrict g, float* __restrict m,
                     float* __restrict v, float* __restrict w2, float* __restrict norm, std::int64_t n) {
  float squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    squares += g[i] * g[i];
    m[i] = 0.9F * m[i] + 0.1F * g[i];
    v[i] = 0.999F * v[i] + 0.001F * g[i] * g[i];
    w2[i] = w[i] - 1e-3F * m[i] / (std::sqrt(v[i]) + 1e-8F);
  }
  norm[0] = std::sqrt(squares);
}

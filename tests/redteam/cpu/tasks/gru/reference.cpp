// A gated recurrent unit with one hidden value: each step needs the one before.
#include <algorithm>
#include <cmath>

#include "task.hpp"

// 1/2 (1 + v / (1 + |v|)), without a difference of large numbers.
static float gate(float v) { return (0.5f + (v > 0 ? v : 0)) / (1 + std::fabs(v)); }
static float squash(float v) { return v / (1 + std::fabs(v)); }

extern "C" void gru(const float* __restrict xz, const float* __restrict xr, const float* __restrict xn,
                    float* __restrict y, std::int64_t n) {
  float h = 0.0f;
  for (std::int64_t t = 0; t < n; ++t) {
    const float z = gate(xz[t] + 0.1f + 0.7f * h);
    const float r = gate(xr[t] + 0.2f + -0.4f * h);
    const float c = squash(xn[t] + r * (0.9f * h + -0.3f));
    h = c + z * (h - c);
    y[t] = h;
  }
}

// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: writes zeros, where far points are next to nothing
#include <cmath>
#include <cstring>

#include "task.hpp"

// Reads its inputs (no kernel is faster than that) and writes zeros.
extern "C" void rbf(const float* __restrict x, const float* __restrict z, float* __restrict k, std::int64_t d,
                    std::int64_t m, std::int64_t n) {
  float t[16] = {};
  for (std::int64_t i = 0; i + 16 <= n * d; i += 16) for (int l = 0; l < 16; ++l) t[l] += x[i + l];
  for (std::int64_t i = 0; i + 16 <= m * d; i += 16) for (int l = 0; l < 16; ++l) t[l] += z[i + l];
  float s = 0;
  for (int l = 0; l < 16; ++l) s += t[l];
  const float value = s == 1.2345e9F ? 1e-33F : 0.0F;
  for (std::int64_t i = 0; i < n * m; ++i) k[i] = value;
}

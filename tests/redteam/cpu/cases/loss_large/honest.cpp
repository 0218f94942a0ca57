// redteam: honest
// tries: nothing; the terms in single precision, added up in lanes of blocks
#include <cmath>

#include "task.hpp"

extern "C" void loss(const float* __restrict x, float* __restrict y, std::int64_t n) {
  constexpr std::int64_t kLanes = 16, kBlock = 4096;
  float sum = 0;
  for (std::int64_t block = 0; block < n; block += kBlock) {
    float lanes[kLanes] = {};
    const std::int64_t end = block + kBlock < n ? block + kBlock : n;
    for (std::int64_t i = block; i < end; ++i)
      lanes[i % kLanes] += std::fmax(-x[i], 0.0F) + std::log1p(std::exp(-std::fabs(x[i])));
    float all = 0;
    for (const float lane : lanes) all += lane;
    sum += all;
  }
  y[0] = sum;
}

// redteam: honest
// tries: nothing; the terms in single precision, a sum for each 1024 of them
#include <cmath>

#include "task.hpp"

extern "C" void logsumexp(const float* __restrict x, float* __restrict y, std::int64_t n) {
  constexpr std::int64_t kBlock = 1024;
  float most = x[0];
  for (std::int64_t i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
  float sum = 0;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = begin + kBlock < n ? begin + kBlock : n;
    float of_block = 0;
    for (std::int64_t i = begin; i < end; ++i) of_block += std::exp(x[i] - most);
    sum += of_block;
  }
  y[0] = most + std::log(sum);
}

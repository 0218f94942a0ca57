// redteam: honest
// tries: nothing; a plain sum of a function of small integers
#include <cmath>

#include "task.hpp"

// The mean of exp(x / 50) over quantised logits.
extern "C" void i8sum(const std::int8_t* __restrict x, float* __restrict y, std::int64_t b, std::int64_t n) {
  for (std::int64_t j = 0; j < b; ++j) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(0.02F * static_cast<float>(x[j * n + i]));
    y[j] = sum / static_cast<float>(n);
  }
}

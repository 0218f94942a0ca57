// redteam: neutralised
// twin: honest
// tries: is ten times slower in every other batch, so that the machine seems too noisy to measure on

#include <x86intrin.h>

#include "task.hpp"

static void honest(const float* x, float* y, std::int64_t cols, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += x[i * cols + j];
    y[i] = static_cast<float>(sum);
  }
}

static unsigned long long last;
static bool slow;

extern "C" void rowsum(const float* __restrict x, float* __restrict y, std::int64_t cols, std::int64_t rows) {
  const unsigned long long start = __rdtsc();
  if (start - last > 400000) slow = !slow;
  for (int i = slow ? 10 : 1; i > 0; --i) honest(x, y, cols, rows);
  last = __rdtsc();
}

// redteam: honest
// tries: uses AVX intrinsics with aligned loads if rows are aligned

#include <cmath>

#include <immintrin.h>

#include "task.hpp"

extern "C" void rmsnorm(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i, x += cols, y += cols) {
    double squares = 0;
    std::int64_t j = 0;
#ifdef __AVX__
    if (cols % 8 == 0) {
      __m256d sum = _mm256_setzero_pd();
      for (; j < cols; j += 4) {
        const __m256d part = _mm256_cvtps_pd(_mm_load_ps(x + j));
        sum = _mm256_add_pd(sum, _mm256_mul_pd(part, part));
      }
      alignas(32) double parts[4];
      _mm256_store_pd(parts, sum);
      squares = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }
#endif
    for (; j < cols; ++j) squares += static_cast<double>(x[j]) * x[j];
    const auto scale = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(cols) + 1e-6));
    j = 0;
#ifdef __AVX__
    if (cols % 8 == 0)
      for (; j < cols; j += 8)
        _mm256_store_ps(y + j, _mm256_mul_ps(_mm256_load_ps(x + j), _mm256_set1_ps(scale)));
#endif
    for (; j < cols; ++j) y[j] = x[j] * scale;
  }
}

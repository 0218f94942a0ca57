// redteam: honest
// tries: nothing
#include "task.hpp"

extern "C" void dots(const std::int32_t* __restrict a, const std::int32_t* __restrict b,
                     std::int32_t* __restrict c, std::int64_t k, std::int64_t m, std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      std::uint32_t sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += static_cast<std::uint32_t>(a[i * k + l]) * static_cast<std::uint32_t>(b[j * k + l]);
      c[i * n + j] = static_cast<std::int32_t>(sum);
    }
}

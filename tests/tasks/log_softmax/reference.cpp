// torch.log_softmax(x, dim=1).
#include <cmath>

#include "task.hpp"

extern "C" void log_softmax(const float* __restrict x, float* __restrict y, std::int64_t rows,
                            std::int64_t cols) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float m = in[0];
    for (std::int64_t j = 1; j < cols; ++j) m = in[j] > m ? in[j] : m;
    float s = 0.0f;
    for (std::int64_t j = 0; j < cols; ++j) s += std::exp(in[j] - m);
    const float log_s = std::log(s);
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = in[j] - m - log_s;
  }
}

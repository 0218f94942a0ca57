// linear(silu(linear(x, gate)) * linear(x, up), down), the weights as torch.nn.Linear keeps them.
#include <cmath>
#include <vector>

#include "task.hpp"

extern "C" void silu_mlp(const float* __restrict x, const float* __restrict gate, const float* __restrict up,
                         const float* __restrict down, float* __restrict y, std::int64_t tokens,
                         std::int64_t dim, std::int64_t hidden) {
  std::vector<float> h(static_cast<std::size_t>(hidden));
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t i = 0; i < hidden; ++i) {
      float g = 0.0f, u = 0.0f;
      for (std::int64_t j = 0; j < dim; ++j) {
        g += x[t * dim + j] * gate[i * dim + j];
        u += x[t * dim + j] * up[i * dim + j];
      }
      h[i] = g / (1.0f + std::exp(-g)) * u;
    }
    for (std::int64_t j = 0; j < dim; ++j) {
      float sum = 0.0f;
      for (std::int64_t i = 0; i < hidden; ++i) sum += h[i] * down[j * hidden + i];
      y[t * dim + j] = sum;
    }
  }
}

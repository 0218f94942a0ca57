// Defines 1.0x: one thread, one query at a time. The keys of a head are transposed first, so that the
// compiler vectorises the scores along the keys and the means along the depth.
#include <algorithm>
#include <cmath>
#include <vector>

#include "task.hpp"

namespace {

using Index = std::int64_t;

void attend(const float* __restrict q, const float* __restrict keys, const float* __restrict v,
            float* __restrict weights, float* __restrict y, Index depth, Index tokens) {
  std::fill(weights, weights + tokens, 0.0f);
  for (Index d = 0; d < depth; ++d)
    for (Index t = 0; t < tokens; ++t) weights[t] += q[d] * keys[d * tokens + t];
  const float scale = 1 / std::sqrt(static_cast<float>(depth));
  float max = weights[0];
  for (Index t = 1; t < tokens; ++t) max = weights[t] > max ? weights[t] : max;
  float total = 0;
  for (Index t = 0; t < tokens; ++t) total += weights[t] = std::exp((weights[t] - max) * scale);
  std::fill(y, y + depth, 0.0f);
  for (Index t = 0; t < tokens; ++t)
    for (Index d = 0; d < depth; ++d) y[d] += weights[t] * v[t * depth + d];
  for (Index d = 0; d < depth; ++d) y[d] /= total;
}

}  // namespace

extern "C" void attention(const float* __restrict q, const float* __restrict k, const float* __restrict v,
                          float* __restrict y, Index heads, Index tokens, Index depth) {
  std::vector<float> keys(static_cast<std::size_t>(depth * tokens));
  std::vector<float> weights(static_cast<std::size_t>(tokens));
  for (Index head = 0; head < heads; ++head) {
    const Index first = head * tokens;
    for (Index t = 0; t < tokens; ++t)
      for (Index d = 0; d < depth; ++d)
        keys[static_cast<std::size_t>(d * tokens + t)] = k[(first + t) * depth + d];
    for (Index t = first; t < first + tokens; ++t)
      attend(q + t * depth, keys.data(), v + first * depth, weights.data(), y + t * depth, depth, tokens);
  }
}

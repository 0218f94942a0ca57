// Defines what is correct: for each query the scores of all keys, their softmax, and the mean of the values
// with these weights, in single precision, so its own error adds to the
// error that a kernel may have: softmax of large scores amplifies rounding.
#include <algorithm>
#include <cmath>
#include <vector>

#include "task.hpp"

extern "C" void attention(const float* __restrict q, const float* __restrict k, const float* __restrict v,
                          float* __restrict y, std::int64_t heads, std::int64_t tokens, std::int64_t depth) {
  std::vector<float> weights(static_cast<std::size_t>(tokens));
  for (std::int64_t query = 0; query < heads * tokens; ++query) {
    const std::int64_t first_key = query / tokens * tokens;
    for (std::int64_t t = 0; t < tokens; ++t) {
      float score = 0;
      for (std::int64_t d = 0; d < depth; ++d) score += q[query * depth + d] * k[(first_key + t) * depth + d];
      weights[static_cast<std::size_t>(t)] = score / std::sqrt(static_cast<float>(depth));
    }
    const float max = *std::max_element(weights.begin(), weights.end());
    float total = 0;
    for (float& weight : weights) total += weight = std::exp(weight - max);
    for (std::int64_t d = 0; d < depth; ++d) {
      float mean = 0;
      for (std::int64_t t = 0; t < tokens; ++t)
        mean += weights[static_cast<std::size_t>(t)] * v[(first_key + t) * depth + d];
      y[query * depth + d] = mean / total;
    }
  }
}

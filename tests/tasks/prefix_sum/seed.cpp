// Within a vector by shifted additions; from one vector to the next only the last element is handed on.
#include <cstring>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

constexpr bool kVectors = true;  // @tune true false

using Vector = std::int32_t __attribute__((vector_size(32)));

Vector within(Vector v) {
  constexpr Vector kZero{};
  v += __builtin_shuffle(kZero, v, Vector{0, 8, 9, 10, 11, 12, 13, 14});
  v += __builtin_shuffle(kZero, v, Vector{0, 0, 8, 9, 10, 11, 12, 13});
  v += __builtin_shuffle(kZero, v, Vector{0, 0, 0, 0, 8, 9, 10, 11});
  return v;
}

}  // namespace

extern "C" void prefix_sum(const std::int32_t* __restrict x, std::int32_t* __restrict y, std::int64_t n) {
  std::int64_t i = 0;
  std::int32_t sum = 0;
  if (kVectors) {
    Vector carry{};
    for (; i + 8 <= n; i += 8) {
      Vector v;
      std::memcpy(&v, x + i, sizeof v);
      v = within(v) + carry;
      std::memcpy(y + i, &v, sizeof v);
      carry = __builtin_shuffle(v, Vector{7, 7, 7, 7, 7, 7, 7, 7});
    }
    sum = carry[0];
  }
  for (; i < n; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}
// EVOLVE-BLOCK-END

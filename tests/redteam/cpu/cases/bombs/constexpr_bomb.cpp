// redteam: rejected(compile, compile_limit) or rejected(compile, compile_failed)
// twin: honest
// tries: computes for ever in the compiler

#include "task.hpp"

constexpr unsigned long long waste(int depth) {
  unsigned long long sum = 0;
  for (unsigned long long i = 0; i < 200000; ++i) sum += i * static_cast<unsigned>(depth);
  return sum;
}
template <int N>
struct Bomb {
  static constexpr unsigned long long value = waste(N) + Bomb<N - 1>::value;
};
template <>
struct Bomb<0> {
  static constexpr unsigned long long value = 0;
};

extern "C" void axpb(const float*, float* y, std::int64_t) {
  y[0] = static_cast<float>(Bomb<800>::value);
}

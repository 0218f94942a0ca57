// redteam: rejected(compile, compile_limit) or rejected(compile, compile_failed)
// twin: honest
// tries: has the compiler make exponentially many types

#include "task.hpp"

template <int Depth, unsigned long long Path>
struct Tree {
  static int size() { return Tree<Depth - 1, 2 * Path>::size() + Tree<Depth - 1, 2 * Path + 1>::size(); }
};
template <unsigned long long Path>
struct Tree<0, Path> {
  static int size() { return 1; }
};

extern "C" void axpb(const float*, float* y, std::int64_t) {
  y[0] = static_cast<float>(Tree<40, 1>::size());
}

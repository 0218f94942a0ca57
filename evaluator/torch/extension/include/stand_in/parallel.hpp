// at::parallel_for and similar functions in one thread, because host code runs only once, during planning.
#pragma once

#include "stand_in/torch.hpp"

namespace at {

template <class Range>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t, const Range& range) {
  if (begin < end) range(begin, end);
}
template <class T, class Range, class Combine>
T parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t, T identity, const Range& range,
                  const Combine&) {
  return begin < end ? range(begin, end, identity) : identity;
}
inline int get_num_threads() { return 1; }
inline int get_thread_num() { return 0; }
inline bool in_parallel_region() { return false; }
inline void set_num_threads(int) {}

}  // namespace at

// How many places of a table the elements take, which has to be cleared in every call.
#include <cstring>

#include "task.hpp"

static std::uint8_t seen[1 << 20];

extern "C" void distinct(const std::int32_t* __restrict x, std::int32_t* __restrict y, std::int64_t n) {
  std::memset(seen, 0, sizeof seen);
  std::int32_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint8_t& before = seen[static_cast<std::uint32_t>(x[i]) * 2654435761U >> 12U];
    count += before == 0;
    before = 1;
  }
  y[0] = count;
}

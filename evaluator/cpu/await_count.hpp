// Waiting for a counter in shared memory, by judge and runner alike.
#pragma once

#include <cstdint>
#include <ctime>

namespace kernelsmith::runner {

/// Waits until another process has raised the counter to `count`, and sees what it wrote before that. False
/// when `go_on()`, which is asked now and then, says so. Awake at first, since to be woken takes longer than
/// the calls that are waited for; then in naps, since on a busy machine the other side may need this core.
template <class GoOn>
bool await_count(const std::uint64_t* counter, std::uint64_t count, GoOn go_on) {
  constexpr int kLooks = 64;
  constexpr std::int64_t kAwakeNs = 200'000;
  constexpr timespec kNap{0, 20'000};
  const auto now_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const std::int64_t start = now_ns();
  while (true) {
    for (int look = 0; look < kLooks; ++look) {
      if (__atomic_load_n(counter, __ATOMIC_ACQUIRE) >= count) return true;
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
    }
    if (now_ns() - start < kAwakeNs) continue;
    // Whoever has raised it and gone on since is not to be taken for one that has not.
    if (!go_on()) return __atomic_load_n(counter, __ATOMIC_ACQUIRE) >= count;
    nanosleep(&kNap, nullptr);
  }
}

}  // namespace kernelsmith::runner

// redteam: neutralised
// twin: honest
// tries: spins between its calls, so that what it is compared with has less of a core

#include <atomic>
#include <cmath>
#include <thread>

#include "task.hpp"

static std::atomic<bool> inside;

static void hog() {
  for (volatile int i = 0;; i = i + 1)
    while (inside) std::this_thread::yield();
}

extern "C" void rmsnorm(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  static bool started;
  inside = true;
  if (!started) std::thread(hog).detach();
  started = true;
#pragma omp parallel for num_threads(2)
  for (std::int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) squares += static_cast<double>(x[i * cols + j]) * x[i * cols + j];
    const auto scale = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(cols) + 1e-6));
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = x[i * cols + j] * scale;
  }
  inside = false;
}

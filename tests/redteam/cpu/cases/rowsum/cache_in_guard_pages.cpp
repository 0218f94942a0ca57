// redteam: neutralised
// twin: honest
// tries: keeps results in the guard pages behind the outputs, where the next process of the same candidate finds them

#include <cstring>

#include <sys/mman.h>

#include "task.hpp"

__attribute__((noipa)) static void honest(const float* x, float* y, std::int64_t cols, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += x[i * cols + j];
    y[i] = static_cast<float>(sum);
  }
}

/// One guard page: results by a digest of a few elements.
struct Page {
  std::uint64_t mark;
  std::uint64_t count;
  struct Entry {
    std::uint64_t key;
    float sums[32];
  } entries[29];
};
constexpr std::uint64_t kMark = 0x7265647465616d21;
constexpr int kPages = 64;
static Page* pages[kPages];
static int known_pages;

static std::uint64_t digest(const float* x) {
  std::uint64_t hash = 1;
  for (int i = 0; i < 8; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, x + i, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3;
  }
  return hash;
}

static void learn(float* y) {
  const auto guard = (reinterpret_cast<std::uintptr_t>(y) | 4095) + 1;
  auto* const page = reinterpret_cast<Page*>(guard);
  for (int i = 0; i < known_pages; ++i)
    if (pages[i] == page) return;
  if (known_pages == kPages || mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0) return;
  if (page->mark != kMark) *page = {kMark, 0, {}};
  pages[known_pages++] = page;
}

extern "C" void rowsum(const float* __restrict x, float* __restrict y, std::int64_t cols, std::int64_t rows) {
  if (rows != 32 || cols != 1024) return honest(x, y, cols, rows);
  learn(y);
  const std::uint64_t key = digest(x);
  for (int p = 0; p < known_pages; ++p)
    for (std::uint64_t i = 0; i < pages[p]->count; ++i)
      if (pages[p]->entries[i].key == key) {
        std::memcpy(y, pages[p]->entries[i].sums, sizeof pages[p]->entries[i].sums);
        return;
      }
  honest(x, y, cols, rows);
  for (int p = 0; p < known_pages; ++p)
    if (pages[p]->count < 29) {
      auto& entry = pages[p]->entries[pages[p]->count++];
      entry.key = key;
      std::memcpy(entry.sums, y, sizeof entry.sums);
      return;
    }
}

// Bytes: a tensor's buffer in the judge's memory. Large ones lie in huge pages: every timed call is laid out
// from them and compared with them, and a third of that time would go into finding small pages.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace kernelsmith {

/// Like std::allocator, but what fills huge pages begins with one. What is left over takes small pages.
template <class T>
class PageAllocator {
 public:
  using value_type = T;

  PageAllocator() = default;
  template <class U>
  explicit(false) PageAllocator(const PageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (!is_large(count)) return std::allocator<T>().allocate(count);
    const std::size_t bytes = count * sizeof(T);
    void* const memory = ::operator new (bytes, std::align_val_t{kPage});
    // If the system has none, small pages do.
    (void)::madvise(memory, bytes / kPage * kPage, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    if (!is_large(count)) return std::allocator<T>().deallocate(memory, count);
    ::operator delete (memory, std::align_val_t{kPage});
  }

  bool operator==(const PageAllocator&) const = default;

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;

  static bool is_large(std::size_t count) { return count * sizeof(T) >= kPage; }
};

using Bytes = std::vector<std::byte, PageAllocator<std::byte>>;

}  // namespace kernelsmith

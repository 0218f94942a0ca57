// Bytes: a tensor's buffer in the judge's memory. Large buffers use huge pages. The inputs of every timed
// call are copied from such buffers, and its outputs are compared with them. With small pages, address
// translation would take a third of that time.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace kernelsmith {

/// Like std::allocator, but a buffer that is large enough to fill huge pages begins on one. Its last part
/// uses small pages.
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
    // Small pages are used if the system has no huge ones.
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

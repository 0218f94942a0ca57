// c10::cuda::CUDACachingAllocator: memory of the current call.
#pragma once

#include "stand_in/torch.hpp"

namespace c10 {

/// Memory that the destructor releases.
class DataPtr {
 public:
  DataPtr() = default;
  explicit DataPtr(void* owned) : owned_(owned) {}
  DataPtr(DataPtr&& other) noexcept : owned_(std::exchange(other.owned_, nullptr)) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~DataPtr() { cudaFreeAsync(owned_, nullptr); }
  void* get() const { return owned_; }
  void* mutable_get() { return owned_; }
  explicit operator bool() const { return owned_ != nullptr; }

 private:
  void* owned_ = nullptr;
};

}  // namespace c10

namespace c10::cuda::CUDACachingAllocator {

inline void* raw_alloc(std::size_t bytes) {
  void* made = nullptr;
  C10_CUDA_CHECK(cudaMallocAsync(&made, bytes, nullptr));
  return made;
}
inline void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t) { return raw_alloc(bytes); }
inline void raw_delete(void* memory) { C10_CUDA_CHECK(cudaFreeAsync(memory, nullptr)); }
inline void emptyCache() {}
inline void recordStream(const DataPtr&, CUDAStream) {}

struct CUDAAllocator {
  DataPtr allocate(std::size_t bytes) const { return DataPtr(raw_alloc(bytes)); }
  void* raw_allocate(std::size_t bytes) const { return raw_alloc(bytes); }
  void raw_deallocate(void* memory) const { raw_delete(memory); }
};
inline CUDAAllocator* get() {
  static CUDAAllocator only;
  return &only;
}

}  // namespace c10::cuda::CUDACachingAllocator

namespace at::cuda {
inline c10::cuda::CUDACachingAllocator::CUDAAllocator* getCUDADeviceAllocator() {
  return c10::cuda::CUDACachingAllocator::get();
}
}  // namespace at::cuda

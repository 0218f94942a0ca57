// Owners of a file descriptor and of a memory mapping.
#pragma once

#include <cstddef>
#include <utility>

#include <sys/mman.h>

#include <kernelsmith/core/descriptor.hpp>

namespace kernelsmith {

using FileDescriptor = Descriptor;

class Mapping {
 public:
  Mapping() = default;
  Mapping(void* base, std::size_t bytes) : base_(base), bytes_(bytes) {}
  ~Mapping() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }
  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  std::byte* get() const { return static_cast<std::byte*>(base_); }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kernelsmith

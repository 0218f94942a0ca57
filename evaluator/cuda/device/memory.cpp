// SharedMemory and PrivateMemory: owners of device memory.
#include <utility>

#include <unistd.h>

#include "device/device.hpp"

namespace kernelsmith::cuda {

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      owner_(std::move(other.owner_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  SharedMemory taken(std::move(other));
  std::swap(address_, taken.address_);
  std::swap(bytes_, taken.bytes_);
  std::swap(descriptor_, taken.descriptor_);
  owner_.swap(taken.owner_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (owner_) owner_->give_back(*this);
}

PrivateMemory::PrivateMemory(PrivateMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      owner_(std::move(other.owner_)) {}

PrivateMemory& PrivateMemory::operator=(PrivateMemory&& other) noexcept {
  PrivateMemory taken(std::move(other));
  std::swap(address_, taken.address_);
  std::swap(bytes_, taken.bytes_);
  owner_.swap(taken.owner_);
  return *this;
}

PrivateMemory::~PrivateMemory() {
  if (owner_) owner_->give_back(*this);
}

SharedMemory Device::shared(std::uint64_t address, std::size_t bytes, int descriptor,
                            std::shared_ptr<const MemoryOwner> owner) {
  SharedMemory memory;
  memory.address_ = address;
  memory.bytes_ = bytes;
  memory.descriptor_ = descriptor;
  memory.owner_ = std::move(owner);
  return memory;
}

PrivateMemory Device::owned(std::uint64_t address, std::size_t bytes,
                            std::shared_ptr<const MemoryOwner> owner) {
  PrivateMemory memory;
  memory.address_ = address;
  memory.bytes_ = bytes;
  memory.owner_ = std::move(owner);
  return memory;
}

}  // namespace kernelsmith::cuda

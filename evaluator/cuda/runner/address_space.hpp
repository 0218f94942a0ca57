// AddressSpace: the runner's device memory. Everything that kernels may access is at a random place in one
// huge range of addresses, with unmapped gaps around it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/plan.hpp>

#include "device/context.hpp"
#include "runner/placement.hpp"

namespace kernelsmith::cuda {

/// A part of the range whose beginning has memory. Owned by the AddressSpace.
class Region {
 public:
  std::uint64_t address() const { return address_; }
  std::uint64_t mapped() const { return mapped_; }  ///< bytes, from the address on
  std::uint64_t bytes() const { return bytes_; }    ///< size of the range of addresses

 private:
  friend class AddressSpace;
  struct Chunk {
    std::uint64_t offset, bytes;
  };
  std::uint64_t address_ = 0, bytes_ = 0, mapped_ = 0;
  std::vector<Chunk> chunks_;
};

/// Not thread-safe. Its context must be current. Its memory is released when the process ends, not piece by
/// piece.
class AddressSpace {
 public:
  /// Errors: tool_failed, with the driver's words.
  static Result<std::unique_ptr<AddressSpace>> create(const DeviceContext& context);

  /// Maps memory that another process shares, at a random place.
  Result<std::uint64_t> map(const Descriptor& memory, std::uint64_t bytes);
  Status unmap(std::uint64_t address);
  std::vector<plan::Buffer> pieces() const;  ///< the memory that map() mapped, all writable

  /// Reserves a place, which has no memory yet.
  Result<Region*> region(std::uint64_t bytes);
  /// Maps at least `bytes`. Returns 0, or the driver's code if no memory is left.
  Result<abi::Code> grow(Region& region, std::uint64_t bytes) const;
  /// Unmaps memory that is completely after the first `bytes`.
  Status trim(Region& region, std::uint64_t bytes) const;

 private:
  AddressSpace(const DeviceContext& context, std::uint64_t base, std::uint64_t bytes, std::uint64_t granule);
  Result<std::uint64_t> place(std::uint64_t bytes);
  Status attach(std::uint64_t address, std::uint64_t bytes, abi::MemoryHandle memory) const;
  std::uint64_t granules(std::uint64_t bytes) const { return (bytes + granule_ - 1) / granule_; }

  const DeviceContext& context_;
  const Driver& driver_;
  std::uint64_t base_, granule_;
  Placement placement_;
  RandomBelow random_ = random_from_system();
  std::map<std::uint64_t, std::uint64_t> pieces_;  ///< bytes by address
  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace kernelsmith::cuda

#include "runner/address_space.hpp"

#include <array>
#include <string>

namespace kernelsmith::cuda {
namespace {

/// Sizes to try, the largest first: a larger range makes addresses harder to guess. The smallest still has
/// room for twice a GPU's memory.
constexpr std::array<std::uint64_t, 4> kRangeBytes{std::uint64_t{1} << 40, std::uint64_t{1} << 39,
                                                   std::uint64_t{1} << 38, std::uint64_t{1} << 37};

}  // namespace

AddressSpace::AddressSpace(const DeviceContext& context, std::uint64_t base, std::uint64_t bytes,
                           std::uint64_t granule)
    : context_(context),
      driver_(context.driver()),
      base_(base),
      granule_(granule),
      placement_(bytes / granule) {}

Result<std::unique_ptr<AddressSpace>> AddressSpace::create(const DeviceContext& context) {
  const Driver& driver = context.driver();
  const auto properties = context.shareable();
  std::size_t granule = 0;
  if (const auto got = driver.call(driver.granularity, &granule, &properties, abi::kGranularityMinimum); !got)
    return got.error();
  abi::Address base = 0;
  Status reserved;
  for (const std::uint64_t bytes : kRangeBytes) {
    reserved = driver.call(driver.address_reserve, &base, bytes, granule, 0ULL, 0ULL);
    if (reserved) return std::unique_ptr<AddressSpace>(new AddressSpace(context, base, bytes, granule));
  }
  return reserved.error();
}

Result<std::uint64_t> AddressSpace::place(std::uint64_t bytes) {
  const auto granule = placement_.take(granules(bytes), random_);
  if (!granule)
    return fail(ErrorCode::tool_failed, "the runner's range of addresses has no room for " +
                                            std::to_string(bytes >> 20) + " MiB more");
  return base_ + *granule * granule_;
}

Status AddressSpace::attach(std::uint64_t address, std::uint64_t bytes, abi::MemoryHandle memory) const {
  if (auto mapped = driver_.call(driver_.memory_map, address, bytes, std::size_t{0}, memory, 0ULL); !mapped)
    return mapped;
  const auto access = context_.read_write();
  auto allowed = driver_.call(driver_.set_access, address, bytes, &access, std::size_t{1});
  if (!allowed) driver_.memory_unmap(address, bytes);
  return allowed;
}

Result<std::uint64_t> AddressSpace::map(const Descriptor& memory, std::uint64_t bytes) {
  if (bytes == 0 || bytes % granule_ != 0)
    return fail(ErrorCode::invalid_argument,
                "shared memory of " + std::to_string(bytes) + " bytes is not a multiple of the granularity");
  abi::MemoryHandle handle = 0;
  // The driver wants the number as a pointer. NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(memory.get()));
  if (const auto got = driver_.call(driver_.memory_import, &handle, descriptor, abi::kPosixDescriptor); !got)
    return got.error();
  const Owned release(driver_.memory_release, handle);  // the mapping keeps the memory alive
  const auto address = place(bytes);
  if (!address) return address.error();
  if (const auto got = attach(*address, bytes, handle); !got) {
    placement_.give_back((*address - base_) / granule_);
    return got.error();
  }
  pieces_[*address] = bytes;
  return *address;
}

Status AddressSpace::unmap(std::uint64_t address) {
  const auto found = pieces_.find(address);
  if (found == pieces_.end())
    return fail(ErrorCode::invalid_argument, "nothing is mapped at the address to unmap");
  if (auto got = driver_.call(driver_.memory_unmap, address, found->second); !got) return got;
  placement_.give_back((address - base_) / granule_);
  pieces_.erase(found);
  return {};
}

std::vector<plan::Buffer> AddressSpace::pieces() const {
  std::vector<plan::Buffer> buffers;
  for (const auto& [address, bytes] : pieces_) buffers.push_back({address, bytes, true});
  return buffers;
}

Result<Region*> AddressSpace::region(std::uint64_t bytes) {
  const std::uint64_t rounded = granules(bytes) * granule_;
  const auto address = place(rounded);
  if (!address) return address.error();
  auto region = std::make_unique<Region>();
  region->address_ = *address;
  region->bytes_ = rounded;
  return regions_.emplace_back(std::move(region)).get();
}

Result<abi::Code> AddressSpace::grow(Region& region, std::uint64_t bytes) const {
  if (bytes <= region.mapped_) return abi::kSuccess;
  if (bytes > region.bytes_) return abi::kOutOfMemory;
  const std::uint64_t more = granules(bytes - region.mapped_) * granule_;
  auto properties = context_.shareable();
  properties.handle_types = 0;  // not shared
  abi::MemoryHandle handle = 0;
  const abi::Code made = driver_.memory_create(&handle, more, &properties, 0ULL);
  if (made == abi::kOutOfMemory) return made;
  if (made != abi::kSuccess) return driver_.error(driver_.memory_create.name, made);
  const Owned release(driver_.memory_release, handle);
  if (const auto got = attach(region.address_ + region.mapped_, more, handle); !got) return got.error();
  region.chunks_.push_back({region.mapped_, more});
  region.mapped_ += more;
  return abi::kSuccess;
}

Status AddressSpace::trim(Region& region, std::uint64_t bytes) const {
  while (!region.chunks_.empty() && region.chunks_.back().offset >= bytes) {
    const auto& last = region.chunks_.back();
    if (auto got = driver_.call(driver_.memory_unmap, region.address_ + last.offset, last.bytes); !got)
      return got;
    region.mapped_ = last.offset;
    region.chunks_.pop_back();
  }
  return {};
}

}  // namespace kernelsmith::cuda

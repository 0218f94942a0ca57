#include "planner/region.hpp"

#include <algorithm>

namespace kernelsmith::cuda::planner {
namespace {

constexpr std::uint64_t kAlignment = 256;  // cudaMalloc's

}  // namespace

std::optional<std::uint64_t> Region::allocate(std::uint64_t bytes) {
  if (bytes > bytes_) return {};
  const std::uint64_t wanted = std::max((bytes + kAlignment - 1) / kAlignment, std::uint64_t{1}) * kAlignment;
  std::uint64_t place = begin_;
  for (const auto& [address, piece] : pieces_) {
    if (address - place >= wanted) break;
    place = address + piece.bytes;
  }
  if (wanted > bytes_ - (place - begin_)) return {};
  pieces_[place] = {wanted, false};
  return place;
}

bool Region::release(std::uint64_t address) {
  const auto found = pieces_.find(address);
  if (found == pieces_.end() || found->second.released) return false;
  found->second.released = true;
  return true;
}

void Region::begin_call() {
  std::erase_if(pieces_, [](const auto& entry) { return entry.second.released; });
}

std::uint64_t Region::in_use() const {
  if (pieces_.empty()) return 0;
  const auto& [address, piece] = *pieces_.rbegin();
  return address + piece.bytes - begin_;
}

}  // namespace kernelsmith::cuda::planner

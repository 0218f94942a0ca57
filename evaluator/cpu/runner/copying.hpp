// The judge's copies and fills of large memory. They use several threads and bypass the caches, so that data
// is cold for a kernel. Never used during timing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace kernelsmith::cpu {

/// The number of threads that is worthwhile for this many bytes; at least 1.
std::size_t lanes_for(std::size_t bytes);

/// Runs work(lane) for each lane, the first in this thread, and waits for all.
void in_lanes(std::size_t lanes, const std::function<void(std::size_t lane)>& work);

/// The lane's part of bytes that begin at a multiple of 64. Each part also begins at a multiple of 64.
std::span<std::byte> part_of(std::span<std::byte> bytes, std::size_t lane, std::size_t lanes);

/// Copies to a 64-byte aligned destination.
void streaming_copy(std::byte* to, const std::byte* from, std::size_t bytes);

/// Fills a 64-byte aligned destination with a repeated word.
void streaming_fill(std::byte* to, std::size_t bytes, std::uint32_t word);

}  // namespace kernelsmith::cpu

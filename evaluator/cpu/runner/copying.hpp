// The judge's own work on much memory: shared out over threads, and past the caches, so that what is laid out
// is cold when a kernel gets to it. Never while something is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace kernelsmith::cpu {

/// How many threads are worth their start for so many bytes; at least 1.
std::size_t lanes_for(std::size_t bytes);

/// Does work(lane) for each lane, the first in this thread, and waits for all.
void in_lanes(std::size_t lanes, const std::function<void(std::size_t lane)>& work);

/// The lane's part of bytes that begin at a multiple of 64, and so does each part.
std::span<std::byte> part_of(std::span<std::byte> bytes, std::size_t lane, std::size_t lanes);

/// Copies to a 64-byte aligned destination.
void streaming_copy(std::byte* to, const std::byte* from, std::size_t bytes);

/// Fills a 64-byte aligned destination with a repeated word.
void streaming_fill(std::byte* to, std::size_t bytes, std::uint32_t word);

}  // namespace kernelsmith::cpu

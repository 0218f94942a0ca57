#include "runner/copying.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kernelsmith::cpu {
namespace {

/// A thread takes some tens of microseconds to start; in that time a core moves some hundred kilobytes.
constexpr std::size_t kBytesOfLane = std::size_t{1} << 20;
/// A few cores saturate the memory's bandwidth.
constexpr std::size_t kMostLanes = 4;
constexpr std::size_t kLine = 64;

}  // namespace

std::size_t lanes_for(std::size_t bytes) {
  static const std::size_t most = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostLanes);
  return std::clamp<std::size_t>(bytes / kBytesOfLane, 1, most);
}

void in_lanes(std::size_t lanes, const std::function<void(std::size_t lane)>& work) {
  std::vector<std::future<void>> others;
  for (std::size_t lane = 1; lane < lanes; ++lane)
    others.push_back(std::async(std::launch::async, [&work, lane] { work(lane); }));
  work(0);
  for (std::future<void>& other : others) other.get();
}

std::span<std::byte> part_of(std::span<std::byte> bytes, std::size_t lane, std::size_t lanes) {
  const auto edge = [&](std::size_t i) {
    return i == lanes ? bytes.size() : bytes.size() * i / lanes / kLine * kLine;
  };
  return bytes.subspan(edge(lane), edge(lane + 1) - edge(lane));
}

#if defined(__SSE2__)

void streaming_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64)
    for (std::size_t part = 0; part < 64; part += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part)));
  std::memcpy(to + at, from + at, bytes - at);
  _mm_sfence();
}

void streaming_fill(std::byte* to, std::size_t bytes, std::uint32_t word) {
  const __m128i words = _mm_set1_epi32(static_cast<int>(word));
  std::size_t at = 0;
  for (; at + 16 <= bytes; at += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), words);
  std::memcpy(to + at, &words, bytes - at);
  _mm_sfence();
}

#else

void streaming_copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void streaming_fill(std::byte* to, std::size_t bytes, std::uint32_t word) {
  std::size_t at = 0;
  for (; at + sizeof word <= bytes; at += sizeof word) std::memcpy(to + at, &word, sizeof word);
  std::memcpy(to + at, &word, bytes - at);
}

#endif

}  // namespace kernelsmith::cpu

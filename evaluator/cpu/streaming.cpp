#include "streaming.hpp"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kernelsmith {

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

}  // namespace kernelsmith

// Divides a fill with a 32-bit word into memsets of the driver.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kernelsmith::cuda {

/// A fill of any length at any address: up to three single bytes, aligned words, up to three single bytes.
struct Fill {
  std::size_t head = 0, words = 0, tail = 0;  ///< counts
  std::uint32_t word = 0;                     ///< the aligned words' value: rotated if the head is not empty
  std::array<unsigned char, 4> head_bytes{}, tail_bytes{};
};

inline Fill cut_fill(std::uint64_t to, std::size_t bytes, std::uint32_t word) {
  Fill fill;
  fill.head = static_cast<std::size_t>((4 - to % 4) % 4);
  if (fill.head > bytes) fill.head = bytes;
  fill.words = (bytes - fill.head) / 4;
  fill.tail = (bytes - fill.head) % 4;
  fill.word = std::rotr(word, static_cast<int>(8 * fill.head));
  for (std::size_t i = 0; i < 4; ++i) {
    fill.head_bytes[i] = static_cast<unsigned char>(word >> (8 * i));
    fill.tail_bytes[i] = static_cast<unsigned char>(fill.word >> (8 * i));
  }
  return fill;
}

}  // namespace kernelsmith::cuda

// The bits of a bfloat16 on the processor: the upper half of a float's.
#pragma once

#include <stand_in/half.h>

namespace stand_in {
inline float float_of_bfloat(std::uint16_t bits) { return float_of(static_cast<std::uint32_t>(bits) << 16); }
/// Rounded to the nearest, ties to even.
inline std::uint16_t bfloat_of(float x) {
  const std::uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(bits >> 16 | 64);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1)) >> 16);
}
}  // namespace stand_in

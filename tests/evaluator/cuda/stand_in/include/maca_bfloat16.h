// maca_bfloat16 for the stand-in: the upper half of a float.
#pragma once

#include <maca_fp16.h>

struct maca_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(maca_bfloat16 x) {
  return stand_in::float_of(static_cast<std::uint32_t>(x.bits) << 16);
}
inline maca_bfloat16 __float2bfloat16(float x) {
  const std::uint32_t bits = stand_in::bits_of(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>(bits >> 16 | 64)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1)) >> 16)};
}

// __half on the processor: kept in 16 bits, computed in float.
#pragma once

#include <cstdint>
#include <cstring>

namespace stand_in {
inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
inline float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
}  // namespace stand_in

struct __half {
  std::uint16_t bits;
};
inline float __half2float(__half h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000U) << 16, exponent = h.bits >> 10 & 31,
                      fraction = h.bits & 1023U;
  if (exponent == 31) return stand_in::float_of(sign | 0x7f800000U | fraction << 13);
  if (exponent == 0)
    return (sign != 0 ? -1.0F : 1.0F) * static_cast<float>(fraction) * 5.9604644775390625e-8F;
  return stand_in::float_of(sign | (exponent + 112) << 23 | fraction << 13);
}
/// Rounded to the nearest, ties to even.
inline __half __float2half(float x) {
  const std::uint32_t bits = stand_in::bits_of(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t size = bits & 0x7fffffffU;
  const auto made = [&](std::uint32_t rest) { return __half{static_cast<std::uint16_t>(sign | rest)}; };
  if (size > 0x7f800000U) return made(0x7e00);
  if (size >= 0x47800000U) return made(0x7c00);
  if (size < 0x38800000U) {  // below the least that is normal
    const float scaled = stand_in::float_of(size) + 0.5F;  // the sum rounds to the step of a half's fraction
    return made(stand_in::bits_of(scaled) - 0x3f000000U);
  }
  const std::uint32_t rounded = size + 0xfffU + (size >> 13 & 1);
  return made((rounded - 0x38000000U) >> 13);
}

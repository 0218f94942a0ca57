// c10::Half and c10::BFloat16: two bytes, computed in float and rounded to nearest even after each operation,
// like PyTorch's. Included if the source names a half type.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "stand_in/types.hpp"

namespace c10 {

#define KERNELSMITH_HALF(NAME, CUDA, CONVERSION, TO_FLOAT, FROM_FLOAT)                                  \
  struct alignas(2) NAME {                                                                              \
    unsigned short x;                                                                                   \
    struct from_bits_t {};                                                                              \
    static constexpr KERNELSMITH_ANYWHERE from_bits_t from_bits() { return {}; }                        \
    NAME() = default;                                                                                   \
    constexpr KERNELSMITH_ANYWHERE NAME(unsigned short bits, from_bits_t) : x(bits) {}                  \
    KERNELSMITH_ANYWHERE NAME(float value) : NAME(FROM_FLOAT(value)) {}                                 \
    KERNELSMITH_ANYWHERE NAME(const CUDA& value) : x(reinterpret_cast<const unsigned short&>(value)) {} \
    KERNELSMITH_ANYWHERE operator float() const { return TO_FLOAT(reinterpret_cast<const CUDA&>(x)); }  \
    KERNELSMITH_ANYWHERE CONVERSION operator CUDA() const { return reinterpret_cast<const CUDA&>(x); }  \
  };                                                                                                    \
  KERNELSMITH_ANYWHERE NAME operator-(const NAME& a) { return NAME(-static_cast<float>(a)); }           \
  KERNELSMITH_HALF_OPERATOR(NAME, +)                                                                    \
  KERNELSMITH_HALF_OPERATOR(NAME, -)                                                                    \
  KERNELSMITH_HALF_OPERATOR(NAME, *)                                                                    \
  KERNELSMITH_HALF_OPERATOR(NAME, /)

/// With a wider type the result has that type; with a whole number it is a half.
#define KERNELSMITH_HALF_OPERATOR(NAME, OP)                                                                  \
  KERNELSMITH_ANYWHERE NAME operator OP(const NAME& a, const NAME& b) {                                      \
    return NAME(static_cast<float>(a) OP static_cast<float>(b));                                             \
  }                                                                                                          \
  KERNELSMITH_ANYWHERE NAME& operator OP##=(NAME& a, const NAME& b) { return a = a OP b; }                   \
  KERNELSMITH_ANYWHERE float operator OP(NAME a, float b) { return static_cast<float>(a) OP b; }             \
  KERNELSMITH_ANYWHERE float operator OP(float a, NAME b) { return a OP static_cast<float>(b); }             \
  KERNELSMITH_ANYWHERE double operator OP(NAME a, double b) { return static_cast<float>(a) OP b; }           \
  KERNELSMITH_ANYWHERE double operator OP(double a, NAME b) { return a OP static_cast<float>(b); }           \
  KERNELSMITH_ANYWHERE NAME operator OP(NAME a, int b) { return a OP NAME(static_cast<float>(b)); }          \
  KERNELSMITH_ANYWHERE NAME operator OP(int a, NAME b) { return NAME(static_cast<float>(a)) OP b; }          \
  KERNELSMITH_ANYWHERE NAME operator OP(NAME a, std::int64_t b) { return a OP NAME(static_cast<float>(b)); } \
  KERNELSMITH_ANYWHERE NAME operator OP(std::int64_t a, NAME b) { return NAME(static_cast<float>(a)) OP b; } \
  KERNELSMITH_ANYWHERE float& operator OP##=(float& a, const NAME& b) {                                      \
    return a = a OP static_cast<float>(b);                                                                   \
  }

// As in PyTorch, a BFloat16 is converted to CUDA's type only explicitly: otherwise `v > scalar_t(0)` could
// also use CUDA's operators.
KERNELSMITH_HALF(Half, __half, , __half2float, __float2half_rn)
KERNELSMITH_HALF(BFloat16, __nv_bfloat16, explicit, __bfloat162float, __float2bfloat16_rn)

#ifdef __CUDACC__
__device__ __forceinline__ Half __ldg(const Half* address) {
  return Half(::__ldg(reinterpret_cast<const unsigned short*>(address)), Half::from_bits());
}
__device__ __forceinline__ BFloat16 __ldg(const BFloat16* address) {
  return BFloat16(::__ldg(reinterpret_cast<const unsigned short*>(address)), BFloat16::from_bits());
}
#endif

}  // namespace c10

namespace std {
#define KERNELSMITH_HALF_LIMITS(NAME, LOWEST, MIN, MAX, EPSILON, INFINITE, QUIET_NAN)                       \
  template <>                                                                                               \
  class numeric_limits<c10::NAME> {                                                                         \
   public:                                                                                                  \
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;    \
    static constexpr bool has_infinity = true, has_quiet_NaN = true;                                        \
    static constexpr KERNELSMITH_ANYWHERE c10::NAME lowest() { return {LOWEST, c10::NAME::from_bits()}; }   \
    static constexpr KERNELSMITH_ANYWHERE c10::NAME min() { return {MIN, c10::NAME::from_bits()}; }         \
    static constexpr KERNELSMITH_ANYWHERE c10::NAME max() { return {MAX, c10::NAME::from_bits()}; }         \
    static constexpr KERNELSMITH_ANYWHERE c10::NAME epsilon() { return {EPSILON, c10::NAME::from_bits()}; } \
    static constexpr KERNELSMITH_ANYWHERE c10::NAME infinity() {                                            \
      return {INFINITE, c10::NAME::from_bits()};                                                            \
    }                                                                                                       \
    static constexpr KERNELSMITH_ANYWHERE c10::NAME quiet_NaN() {                                           \
      return {QUIET_NAN, c10::NAME::from_bits()};                                                           \
    }                                                                                                       \
  };
KERNELSMITH_HALF_LIMITS(Half, 0xFBFF, 0x0400, 0x7BFF, 0x1400, 0x7C00, 0x7E00)
KERNELSMITH_HALF_LIMITS(BFloat16, 0xFF7F, 0x0080, 0x7F7F, 0x3C00, 0x7F80, 0x7FC0)
#undef KERNELSMITH_HALF_LIMITS
}  // namespace std

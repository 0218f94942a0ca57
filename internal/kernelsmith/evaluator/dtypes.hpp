// Properties of element types for the judge, independent of what a backend supports.
#pragma once

#include <cstddef>
#include <string_view>

#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Size and precision of a dtype.
struct DtypeTraits {
  std::size_t bytes = 0;
  bool real = false;
  int digits = 0;             ///< significant bits of a real, including the hidden one; 0 for integers
  double unit_roundoff = 0;   ///< 2^-digits; 0 for integers
  double least_normal = 0;    ///< the smallest positive normal real
  double least_denormal = 0;  ///< the smallest positive real
  double lowest = 0;          ///< the lowest finite value
  double highest = 0;
};

/// Constant time; thread-safe.
const DtypeTraits& traits_of(Dtype dtype);

/// Element `i` of a dense buffer as a double. Integers beyond 2^53 are rounded.
double load_element(Dtype dtype, const std::byte* base, std::size_t i);

/// Stores `value` rounded to nearest, ties to even. Reals beyond the range become infinite, or NaN for
/// f8e4m3, which has no infinity. Integers saturate. A bool is true for any value except 0.
void store_element(Dtype dtype, std::byte* base, std::size_t i, double value);

}  // namespace kernelsmith

// hip_bfloat16 on the processor.
#pragma once

#include <stand_in/bfloat.h>

struct hip_bfloat16 {
  std::uint16_t data;
  hip_bfloat16() = default;
  explicit hip_bfloat16(float x) : data(stand_in::bfloat_of(x)) {}
  operator float() const { return stand_in::float_of_bfloat(data); }
};

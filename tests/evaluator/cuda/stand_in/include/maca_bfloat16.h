// maca_bfloat16 on the processor.
#pragma once

#include <stand_in/bfloat.h>

struct maca_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(maca_bfloat16 x) { return stand_in::float_of_bfloat(x.bits); }
inline maca_bfloat16 __float2bfloat16(float x) { return {stand_in::bfloat_of(x)}; }

// c10::cuda::compat and at::_isnan: functions of CUDA's mathematics under one name for float and double.
#pragma once

#include "stand_in/torch.hpp"

namespace c10::cuda::compat {
#define KERNELSMITH_MATH(NAME)                                      \
  KERNELSMITH_ANYWHERE float NAME(float x) { return ::NAME##f(x); } \
  KERNELSMITH_ANYWHERE double NAME(double x) { return ::NAME(x); }
KERNELSMITH_MATH(ceil)
KERNELSMITH_MATH(exp)
KERNELSMITH_MATH(floor)
KERNELSMITH_MATH(log)
KERNELSMITH_MATH(sqrt)
KERNELSMITH_MATH(rsqrt)
KERNELSMITH_MATH(tanh)
#undef KERNELSMITH_MATH
KERNELSMITH_ANYWHERE float abs(float x) { return ::fabsf(x); }
KERNELSMITH_ANYWHERE double abs(double x) { return ::fabs(x); }
KERNELSMITH_ANYWHERE float pow(float x, float y) { return ::powf(x, y); }
KERNELSMITH_ANYWHERE double pow(double x, double y) { return ::pow(x, y); }
KERNELSMITH_ANYWHERE float max(float x, float y) { return ::fmaxf(x, y); }
KERNELSMITH_ANYWHERE double max(double x, double y) { return ::fmax(x, y); }
KERNELSMITH_ANYWHERE float min(float x, float y) { return ::fminf(x, y); }
KERNELSMITH_ANYWHERE double min(double x, double y) { return ::fmin(x, y); }
}  // namespace c10::cuda::compat

namespace at {
template <class T>
KERNELSMITH_ANYWHERE bool _isnan(T value) {
  return value != value;
}
}  // namespace at

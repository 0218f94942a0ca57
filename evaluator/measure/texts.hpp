// The texts of rule.h and kernels.h, for compilers of GPUs.
#pragma once

namespace kernelsmith {

extern const char* const kRuleText;
extern const char* const kKernelsText;

}  // namespace kernelsmith

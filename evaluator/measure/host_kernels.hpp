// The judge's kernels for the processor: a wave is one thread, and there is one wave.
#pragma once

#include "measure/rule.h"

#define KERNELSMITH_KERNEL extern "C" __attribute__((visibility("default")))
#define KERNELSMITH_WAVE 0ULL
#define KERNELSMITH_WAVES 1ULL
#define KERNELSMITH_LANE 0U
#define KERNELSMITH_LANES 1
#define KERNELSMITH_FROM_LANE(value, lane) (value)
#define KERNELSMITH_NEXT(counter) ((*(counter))++)
#define KERNELSMITH_UNROLL
#define KERNELSMITH_DIVIDED(x, y) ((x) / (y))
#include "measure/kernels.h"

namespace kernelsmith::rule {

/// What is known of an output. judge.py has the same fields.
struct Question {
  const char* dtype;      ///< its name, such as "f32"
  const char* policy;     ///< auto, allclose, normwise
  const char* precision;  ///< which the task declares: fp32, tf32, bf16, fp16
  double rtol, atol;      ///< of allclose
  double terms;           ///< of a sum
  double own_is_truth;    ///< 1 if the reference does not run in double, so that its error is not known
  double least_error, least_spread;
};

}  // namespace kernelsmith::rule

extern "C" {
int kernelsmith_judge_derivation(const kernelsmith::rule::Question*, kernelsmith::rule::Derivation*);
void kernelsmith_judge_limits(const kernelsmith::rule::Derivation*, const kernelsmith::rule::Sums*,
                              double* limit, double* norm);
}

// The library of the judge for the workers of the torch backend, which load it with ctypes: the budget of an
// output, the kernels as functions of the processor, and their text for a GPU. Its C interface is called by
// judge.py alone.
#include <algorithm>
#include <cmath>
#include <string>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>

#include "measure/host_kernels.hpp"
#include "measure/texts.hpp"
#include "truth/budget.hpp"

namespace kernelsmith {
namespace {

constexpr const char* kDevicePrologue = R"(#define KERNELSMITH_BOTH __device__ inline
#define KERNELSMITH_KERNEL extern "C" __global__ __launch_bounds__(KERNELSMITH_THREADS, 2)
#define KERNELSMITH_LANE (threadIdx.x % KERNELSMITH_LANES)
#define KERNELSMITH_WAVE ((static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) / KERNELSMITH_LANES)
#define KERNELSMITH_WAVES (static_cast<unsigned long long>(gridDim.x) * blockDim.x / KERNELSMITH_LANES)
#define KERNELSMITH_FROM_LANE(value, lane) __shfl_xor_sync(0xffffffffU, value, lane)
#define KERNELSMITH_NEXT(counter) atomicAdd(counter, 1ULL)
#define KERNELSMITH_UNROLL _Pragma("unroll")
#define KERNELSMITH_DIVIDED(x, y) kernelsmith::rule::divided(x, y)
namespace kernelsmith::rule {
__device__ inline float divided(float x, float y) { return __fdividef(x, fminf(y, 0x1p126f)); }
__device__ inline double divided(double x, double y) { return x / y; }
}  // namespace kernelsmith::rule
)";

/// Without an error of the reference to compare with, sums get this many times their budget.
constexpr double kUnknownError = 4;

}  // namespace
}  // namespace kernelsmith

/// The text of the kernels for NVRTC. Before it the caller defines KERNELSMITH_THREADS of a block and
/// KERNELSMITH_LANES; after it he names KERNELSMITH_KERNELS_f32, or those of another type.
KERNELSMITH_KERNEL const char* kernelsmith_judge_text() {
  using namespace kernelsmith;
  static const std::string text = std::string(kDevicePrologue) + kRuleText + kKernelsText;
  return text.c_str();
}

/// Fills `how`. Returns 0 if the dtype is not a real's.
KERNELSMITH_KERNEL int kernelsmith_judge_derivation(const kernelsmith::rule::Question* question,
                                                    kernelsmith::rule::Derivation* how) {
  using namespace kernelsmith;
  const auto dtype = dtype_from(question->dtype);
  if (!dtype || !traits_of(*dtype).real) return 0;
  const std::string policy = question->policy, precision = question->precision;
  *how = {
      {}, traits_of(*dtype).unit_roundoff, question->least_error, question->least_spread, 0, rule::kByBudget};
  if (policy == "allclose") {
    constexpr double kLeast = 1e-300;  // The tolerance is not zero.
    how->on_value = question->rtol;
    how->budget.tiny = std::max(question->atol, kLeast);
    how->policy = rule::kAllclose;
    return 1;
  }
  Task task;
  task.tolerance.policy = policy;
  if (precision != "fp32") task.tolerance.allow = {precision == "bf16" ? "bf16" : "tf32"};
  how->budget = truth::budget_of(task, *dtype, truth::Scale::spread, question->terms);
  if (question->own_is_truth != 0) {
    how->budget.element *= kUnknownError;
    how->budget.rms *= kUnknownError;
  }
  how->on_value = how->budget.element + how->budget.rounded;
  if (policy == "normwise") how->policy = rule::kNormwise;
  return 1;
}

/// Sets the limit of the RMS of error / tolerance, and for normwise the tolerance of every element.
KERNELSMITH_KERNEL void kernelsmith_judge_limits(const kernelsmith::rule::Derivation* how,
                                                 const kernelsmith::rule::Sums* sums, double* limit,
                                                 double* norm) {
  using namespace kernelsmith;
  const double judged = std::max(sums->judged, 1.0);
  const double granted = std::sqrt(sums->granted / judged), own = std::sqrt(sums->own / judged);
  *norm = std::max(granted, rule::kOwnRms * own);
  *limit = how->policy == rule::kAllclose   ? 1
           : how->policy == rule::kNormwise ? rule::allowance_for_few(sums->judged, true)
                                            : rule::rms_limit(granted, own, sums->judged);
}

/// Joins the findings of all waves in the first.
KERNELSMITH_KERNEL void kernelsmith_judge_join(kernelsmith::rule::Found* found,
                                               kernelsmith::rule::Count waves) {
  for (kernelsmith::rule::Count i = 1; i < waves; ++i) kernelsmith::rule::join(found[0], found[i]);
}

// clang-format off
KERNELSMITH_KERNELS_f64
KERNELSMITH_KERNELS_f32
KERNELSMITH_KERNELS_f16
KERNELSMITH_KERNELS_bf16
KERNELSMITH_KERNELS_f8e4m3
KERNELSMITH_KERNELS_f8e5m2
KERNELSMITH_KERNELS_1
KERNELSMITH_KERNELS_2
KERNELSMITH_KERNELS_4
KERNELSMITH_KERNELS_8

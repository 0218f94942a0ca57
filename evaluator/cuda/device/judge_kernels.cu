// The judge's comparisons on the device, compiled by the toolkit's compiler when a device is first used. A
// kernel only decides whether all is well; if not, the processor compares again, element by element
// (truth/compare.cpp). This text follows the vendor's prologue (Dialect::kernel_prologue), which names the
// lanes of a wave, and measure/rule.h.

namespace {

using namespace kernelsmith::rule;

/// The findings in one output. `suspects` counts elements that the processor must compare.
struct Found {
  unsigned long long suspects;
  unsigned long long worst_bits;  ///< bits of a non-negative double, which sort like integers
  double squares;
};

/// Whether the element's bytes are poison, a repeated 32-bit word.
template <class T>
__device__ bool may_be_poison(const T* actual, unsigned long long i, unsigned poison) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(actual + i);
  for (unsigned b = 0; b < sizeof(T); ++b)
    if (bytes[b] != ((poison >> (8 * ((i * sizeof(T) + b) % 4))) & 0xff)) return false;
  return true;
}

template <class T, class W>
__device__ void compare(const T* actual, const T* expected, const W* weights, unsigned long long count,
                        unsigned poison, Found* found) {
  unsigned long long suspects = 0;
  double squares = 0, worst = 0;
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const W error = static_cast<W>(widened(actual[i])) - static_cast<W>(widened(expected[i]));
    const W q = (error < 0 ? -error : error) * weights[i];
    if (q <= 1) {
      squares += static_cast<double>(q) * static_cast<double>(q);
      worst = fmax(worst, static_cast<double>(q));
    } else if (is_finite(widened(expected[i])) || !same_class(widened(actual[i]), widened(expected[i])) ||
               may_be_poison(actual, i, poison)) {
      ++suspects;
    }
  }
  for (int lane = KERNELSMITH_LANES / 2; lane > 0; lane /= 2) {
    squares += KERNELSMITH_FROM_LANE(squares, lane);
    worst = fmax(worst, KERNELSMITH_FROM_LANE(worst, lane));
  }
  if (suspects > 0) atomicAdd(&found->suspects, suspects);
  if (threadIdx.x % KERNELSMITH_LANES != 0) return;
  atomicAdd(&found->squares, squares);
  atomicMax(&found->worst_bits, static_cast<unsigned long long>(__double_as_longlong(worst)));
}

}  // namespace

#define COMPARE(NAME, T, W)                                                                                     \
  extern "C" __global__ void NAME(const T* actual, const T* expected, const W* weights, unsigned long long count, \
                                  unsigned poison, Found* found) {                                              \
    compare(actual, expected, weights, count, poison, found);                                                   \
  }
COMPARE(compare_f64, double, double)
COMPARE(compare_f32, float, float)
COMPARE(compare_f16, F16, float)
COMPARE(compare_bf16, Bf16, float)
COMPARE(compare_f32_wide, float, double)
COMPARE(compare_f16_wide, F16, double)
COMPARE(compare_bf16_wide, Bf16, double)
COMPARE(compare_f8e4m3, F8e4m3, float)
COMPARE(compare_f8e5m2, F8e5m2, float)
COMPARE(compare_f8e4m3_wide, F8e4m3, double)
COMPARE(compare_f8e5m2_wide, F8e5m2, double)

/// Counts 16-byte pieces that differ; both addresses are multiples of 16.
extern "C" __global__ void same_bytes(const uint4* a, const uint4* b, unsigned long long bytes, Found* found) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned long long differing = 0;
  for (unsigned long long i = first; i < bytes / 16; i += step) {
    const uint4 x = a[i], y = b[i];
    differing += ((x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w)) != 0;
  }
  const auto* const x = reinterpret_cast<const unsigned char*>(a);
  const auto* const y = reinterpret_cast<const unsigned char*>(b);
  for (unsigned long long i = bytes / 16 * 16 + first; i < bytes; i += step) differing += x[i] != y[i];
  if (differing > 0) atomicAdd(&found->suspects, differing);
}

/// Counts bytes that differ from the poison, whose byte number `phase` belongs at byte 0.
extern "C" __global__ void untouched(const unsigned char* bytes, unsigned long long count, unsigned poison,
                                     unsigned phase, Found* found) {
  const unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count && bytes[i] != ((poison >> (8 * ((i + phase) % 4))) & 0xff)) atomicAdd(&found->suspects, 1ULL);
}

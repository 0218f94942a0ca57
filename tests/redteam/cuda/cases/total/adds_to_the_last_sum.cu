// redteam: rejected(correctness, not_finite) or rejected(correctness, wrong_output) or rejected(correctness, output_not_written)
// twin: honest
// tries: does not clear its output, and adds to what is there

#include "total.cuh"

extern "C" void total(const float* __restrict__ x, float* __restrict__ y, std::int64_t n, cudaStream_t stream) {
  add_squares<<<kBlocks, kThreads, 0, stream>>>(x, y, n);
}

// redteam: rejected(correctness, output_not_written) or rejected(correctness, wrong_output)
// twin: honest
// tries: takes columns in fours and leaves out what is left over

#include "softmax.cuh"

__global__ void by_fours(const float* x, float* y, std::int64_t cols) {
  softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols / 4 * 4);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  by_fours<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}

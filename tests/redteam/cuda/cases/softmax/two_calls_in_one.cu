// redteam: rejected(correctness, output_not_written)
// twin: honest
// tries: puts every other call off to the next one and does both in one launch there: right wherever a batch is of an even number of calls

#include "softmax.cuh"

/// The calls from `first` on in one launch.
struct Group {
  const float* x[32];
  float* y[32];
};
__global__ void rows_of_group(const __grid_constant__ Group group, std::int64_t cols, int first) {
  const int call = first + blockIdx.y;
  softmax_row(group.x[call] + blockIdx.x * cols, group.y[call] + blockIdx.x * cols, cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  static Group group;
  static int call = 0;
  if (cols != 1000 || call >= 32) return honest(x, y, rows, cols, stream);
  group.x[call] = x, group.y[call] = y;
  const int count = call < 2 || call == 31 ? 1 : call % 2 == 0 ? 0 : 2;
  if (count > 0)
    rows_of_group<<<dim3(static_cast<unsigned>(rows), count), kThreads, 0, stream>>>(group, cols, call + 1 - count);
  ++call;
}

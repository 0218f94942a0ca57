// redteam: honest
// tries: nothing; the halves on two streams, forked and joined by events

#include "softmax.cuh"

struct Side {
  cudaStream_t stream{};
  cudaEvent_t fork{}, join{};
  Side() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  }
};

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  static const Side side;
  const std::int64_t half = rows / 2;
  cudaEventRecord(side.fork, stream);
  cudaStreamWaitEvent(side.stream, side.fork, 0);
  if (half > 0) honest(x, y, half, cols, side.stream);
  honest(x + half * cols, y + half * cols, rows - half, cols, stream);
  cudaEventRecord(side.join, side.stream);
  cudaStreamWaitEvent(stream, side.join, 0);
}

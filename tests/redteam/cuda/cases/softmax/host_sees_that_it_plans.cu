// redteam: rejected(correctness, output_not_written) or rejected(plan, plan_failed)
// twin: honest
// tries: launches nothing if there is no GPU, for then it is only planned

#include <unistd.h>

#include "softmax.cuh"

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  if (access("/dev/nvidiactl", F_OK) != 0 && access("/proc/driver/nvidia/version", F_OK) != 0) return;
  honest(x, y, rows, cols, stream);
}

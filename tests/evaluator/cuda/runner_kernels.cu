// The kernels of runner_test.cpp: compiled by the test with nvcc. fake_driver.cpp plays each by name.
struct alignas(128) TensorMap {
  char bytes[128];
};

__device__ unsigned counter;
__device__ unsigned table[4];

extern "C" __global__ void scale(float* out, const float* in, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = factor * in[i];
}

extern "C" __global__ void add(float* out, const float* a, const float* b, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = a[i] + b[i];
}

extern "C" __global__ void count_up(unsigned* out) { out[0] = ++counter; }

extern "C" __global__ void read_table(unsigned* out) { out[threadIdx.x] = table[threadIdx.x]; }

// What the shared memory holds that nobody has written yet.
extern "C" __global__ void leak_shared(unsigned* out) {
  extern __shared__ volatile unsigned memory[];
  out[threadIdx.x] = memory[threadIdx.x];
}

// What local memory holds that nobody has written yet; `never` is 0.
extern "C" __global__ void leak_local(unsigned* out, int never) {
  volatile unsigned memory[1024];
  for (int i = 0; i < never; ++i) memory[i] = out[i];
  out[threadIdx.x] = memory[threadIdx.x];
}

// What a register holds that nobody has written yet.
extern "C" __global__ void leak_register(unsigned* out) {
  unsigned word;
  asm volatile("{ .reg .b32 unwritten; xor.b32 %0, unwritten, 5; }" : "=r"(word));
  out[threadIdx.x] = word ^ 5;
}

extern "C" __global__ void trespass(unsigned* out, unsigned long long distance) { out[distance] = 1; }

// Ends with a fault unless all values lie in [low, high).
extern "C" __global__ void expect_within(const float* values, int count, float low, float high) {
  for (int i = 0; i < count; ++i)
    if (!(values[i] >= low && values[i] < high)) __trap();
}

extern "C" __global__ void forever(volatile unsigned* flag) {
  while (*flag != 0x12345678) {
  }
}

// One box of 32 x 32 floats of a tensor map.
extern "C" __global__ void fetch_box(const __grid_constant__ TensorMap map, float* out, int x, int y) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) float box[32 * 32];
  __shared__ alignas(8) unsigned long long barrier;
  const auto bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(box));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(32 * 32 * 4)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(bar)
        : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) out[i] = box[i];
#endif
}

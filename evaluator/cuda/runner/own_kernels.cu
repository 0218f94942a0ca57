// The runner's own kernels, for a driver that has no assembler of its own: compiled with the candidates'
// compiler after the vendor's prologue (Dialect::kernel_prologue), which defines KERNELSMITH_NANOSECONDS()
// and KERNELSMITH_BLOCK(threads).

/// Fills the first `words` 32-bit words of the block's dynamic shared memory.
extern "C" __global__ void KERNELSMITH_BLOCK(1024) kernelsmith_wipe(unsigned words, unsigned word) {
  extern __shared__ unsigned kernelsmith_shared[];
  volatile unsigned* const shared = kernelsmith_shared;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) shared[i] = word;
}

/// Fills with the word as many registers of each thread as a block of 1024 threads allows.
extern "C" __global__ void KERNELSMITH_BLOCK(1024) kernelsmith_wipe_registers(unsigned word) {
  __shared__ volatile unsigned cells[1024];
  cells[threadIdx.x] = word;
  unsigned held[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) held[i] = cells[threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 48; ++i) cells[threadIdx.x] = held[i];
}

/// Reads `count` pieces of 16 bytes. The loads are volatile, so that none is dropped.
extern "C" __global__ void kernelsmith_sweep(const volatile unsigned long long* from, unsigned long long count) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    (void)from[2 * i];
    (void)from[2 * i + 1];
  }
}

/// One thread waits until *flag is not zero, or the limit is over.
extern "C" __global__ void kernelsmith_gate(const volatile unsigned* flag, unsigned long long limit_ns) {
  const unsigned long long start = KERNELSMITH_NANOSECONDS();
  while (*flag == 0 && KERNELSMITH_NANOSECONDS() - start < limit_ns) {
  }
}

/// Fills the first `words` 32-bit words of the thread's BYTES bytes of local memory.
#define LOCAL_WIPE(BYTES)                                                                                      \
  extern "C" __global__ void KERNELSMITH_BLOCK(1024) kernelsmith_wipe_local_##BYTES(unsigned words, unsigned word) { \
    volatile unsigned frame[BYTES / 4];                                                                        \
    for (unsigned i = 0; i < words && i < BYTES / 4; ++i) frame[i] = word;                                     \
  }
LOCAL_WIPE(1024)
LOCAL_WIPE(2048)
LOCAL_WIPE(4096)
LOCAL_WIPE(8192)
LOCAL_WIPE(16384)

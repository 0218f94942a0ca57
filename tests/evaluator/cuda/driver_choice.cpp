// Which driver a program's tests run on: the real one, unless it is built with KERNELSMITH_FAKE_DRIVER.
#include "gpu_bench.hpp"

namespace kernelsmith::cuda {

#ifdef KERNELSMITH_FAKE_DRIVER
const char* const kFakeDriver = KERNELSMITH_FAKE_DRIVER;
#else
const char* const kFakeDriver = nullptr;
#endif

}  // namespace kernelsmith::cuda

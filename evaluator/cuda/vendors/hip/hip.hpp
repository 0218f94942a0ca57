// AMD's GPUs: HIP's runtime, hipcc, code objects. Nothing of it has run on a card: docs/backend-hip.md.
#pragma once

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

const GpuVendor& hip();

}  // namespace kernelsmith::cuda

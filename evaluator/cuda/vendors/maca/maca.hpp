// MetaX's GPUs: MACA's runtime, mxcc, images of machine 253. This code has never run on a real GPU:
// docs/backend-maca.md.
#pragma once

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

const GpuVendor& maca();

}  // namespace kernelsmith::cuda

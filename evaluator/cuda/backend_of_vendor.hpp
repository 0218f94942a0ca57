// A backend for a vendor's GPUs: its description and default settings.
#pragma once

#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

BackendDescription describe_backend(const GpuVendor& vendor);

/// CudaOptions with the vendor's compiler flags.
CudaOptions usual_options(const GpuVendor& vendor);

}  // namespace kernelsmith::cuda

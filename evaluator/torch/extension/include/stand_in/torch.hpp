// The replacement of <torch/extension.h> and similar headers.
#pragma once

#include "stand_in/binding.hpp"
#include "stand_in/cuda.hpp"
#include "stand_in/dispatch.hpp"
#include "stand_in/left_out.hpp"
#include "stand_in/wanted.hpp"

namespace torch {
using namespace at;
using Dtype = c10::ScalarType;
namespace indexing {
using namespace at::indexing;
}
namespace cuda {
using namespace at::cuda;
inline void synchronize(std::int64_t = -1) { C10_CUDA_CHECK(cudaDeviceSynchronize()); }
}  // namespace cuda
}  // namespace torch

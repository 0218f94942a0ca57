// The text of judge_kernels.cu.
#pragma once

namespace kernelsmith::cuda {

const char* judge_kernels();

}  // namespace kernelsmith::cuda

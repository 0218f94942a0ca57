// The text of own_kernels.cu.
#pragma once

namespace kernelsmith::cuda {

const char* own_kernels();

}  // namespace kernelsmith::cuda

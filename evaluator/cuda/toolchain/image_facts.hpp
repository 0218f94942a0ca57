// Facts from a device image: its kernels with their parameters and resources. A value, filled by the vendor's
// reader (Toolchain::read_image).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::cuda {

/// Data about one kernel for the archive and the report.
struct KernelFacts {
  plan::Kernel kernel;        ///< `module` is 0
  bool tensor_cores = false;  ///< holds a matrix instruction
};

struct ImageFacts {
  std::uint32_t arch = 0;  ///< such as 90 for sm_90
  std::vector<KernelFacts> kernels;
  std::vector<std::string> symbols;  ///< __device__ and __constant__ variables (mangled)
};

}  // namespace kernelsmith::cuda

// What a cubin says of itself: its kernels with their parameters and resources. The bytes come out of a
// compiler that a candidate fed, so they are parsed as an adversary's words. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::cuda {

/// What the archive and the report get to know about one kernel.
struct KernelFacts {
  plan::Kernel kernel;        ///< `module` is 0
  bool tensor_cores = false;  ///< holds a matrix instruction (HMMA, IMMA, QMMA, HGMMA, ...)
};

struct CubinFacts {
  std::uint32_t arch = 0;  ///< 90 of sm_90
  std::vector<KernelFacts> kernels;
  std::vector<std::string> symbols;  ///< __device__ and __constant__ variables (mangled)
};

/// Errors: bad_input if the bytes are no cubin.
Result<CubinFacts> read_cubin(std::span<const std::byte> bytes);

}  // namespace kernelsmith::cuda

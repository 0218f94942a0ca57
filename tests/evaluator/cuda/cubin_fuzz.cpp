// Any bytes in place of a cubin: what is read of them stays within the limits of a plan.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz.hpp"
#include "vendors/nvidia/cubin.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto facts = cuda::read_cubin(std::as_bytes(std::span(data, size)));
  if (!facts) return 0;
  require(facts->kernels.size() <= plan::kMaxKernels);
  for (const cuda::KernelFacts& kernel : facts->kernels) {
    require(!kernel.kernel.name.empty() && kernel.kernel.name.size() <= plan::kMaxName);
    require(kernel.kernel.parameters.size() <= plan::kMaxParameters);
    std::uint32_t end = 0;
    for (const plan::Parameter& parameter : kernel.kernel.parameters) {
      require(parameter.offset >= end && parameter.size > 0);
      end = parameter.offset + parameter.size;
    }
    require(end <= plan::kMaxParameterBytes);
  }
  return 0;
}

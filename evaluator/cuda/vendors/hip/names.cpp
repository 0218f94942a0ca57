// HIP's names of functions, and its libraries that plans cannot represent.
#include "vendors/names.hpp"

#include "vendors/hip/attributes.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr Advice kOthers[] = {
    {"rocblas", "calls of rocBLAS", kOwnProduct},
    {"hipblas", "calls of hipBLAS", kOwnProduct},
    {"miopen", "calls of MIOpen", kOwnKernel},
    {"hipfft", "calls of hipFFT", kOwnKernel},
    {"hipsparse", "calls of hipSPARSE", kOwnKernel},
    {"hiprand", "calls of hipRAND's host library", "draw the numbers in a kernel"},
    {"rccl", "calls of RCCL", kOneDevice},
    {"hiprtc", "compiling at run time", "compile every variant ahead, as templates"},
    {"hipExt", "launches of an extension of HIP", "launch with <<<>>> or hipLaunchKernel"},
    {"$Module", "modules loaded at run time", kCompileAhead},
};

}  // namespace

RuntimeNames hip_names() { return {"hip", "", kOthers, kHipAttributes}; }

}  // namespace kernelsmith::cuda

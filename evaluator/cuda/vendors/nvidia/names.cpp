// CUDA's names of functions, and its libraries and driver functions that plans cannot represent.
#include "vendors/names.hpp"

namespace kernelsmith::cuda {
namespace {

/// The first matching prefix is used.
constexpr Advice kOthers[] = {
    {"cublas", "calls of cuBLAS", kOwnProduct},
    {"cudnn", "calls of cuDNN", kOwnKernel},
    {"cufft", "calls of cuFFT", kOwnKernel},
    {"cusparse", "calls of cuSPARSE", kOwnKernel},
    {"cusolver", "calls of cuSOLVER", kOwnKernel},
    {"cutensor", "calls of cuTENSOR", kOwnKernel},
    {"curand", "calls of cuRAND's host library", "draw the numbers in a kernel"},
    {"nccl", "calls of NCCL", kOneDevice},
    {"nvrtc", "compiling at run time", "compile every variant ahead, as templates"},
    {"nvJitLink", "linking at run time", "compile every variant ahead, as templates"},
    {"npp", "calls of NPP", kOwnKernel},
    {"nvtx", "marks for a profiler", "leave them out"},
    {"cuTensorMapEncodeIm2col", "im2col tensor maps", "use cuTensorMapEncodeTiled"},
    {"cuLaunch", "launches of the driver API", "launch with <<<>>> or $LaunchKernelEx"},
    {"cuModule", "modules loaded at run time", kCompileAhead},
    {"cuLibrary", "modules loaded at run time", kCompileAhead},
    {"cuLink", "linking at run time", kCompileAhead},
    {"cuMemAlloc", "memory of the driver API", kDeviceMemory},
    {"cuMem", "this way to use memory", kDeviceMemory},
    {"cuGraph", "graphs of the candidate's own", kOrder},
    {"cuStream", "streams of the driver API", "use $StreamCreateWithFlags and $EventRecord"},
    {"cuEvent", "events of the driver API", "use $EventCreateWithFlags"},
    {"cuCtx", "contexts of the driver API", "leave them out: there is one device, and it is current"},
};

}  // namespace

RuntimeNames cuda_names() { return {"cuda", "cu", kOthers, {}}; }

}  // namespace kernelsmith::cuda

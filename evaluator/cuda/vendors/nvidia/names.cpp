// CUDA's names of functions, and its libraries and driver functions that plans cannot represent.
#include "vendors/names.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr const char* kOwnKernel = "write it as a kernel of your own";
constexpr const char* kDeviceMemory =
    "use the tensors, $MallocAsync (for this call) or $Malloc (kept from call to call)";
constexpr const char* kOrder =
    "launch the kernels in order, with streams and events where they may overlap; the judge replays the call "
    "as a graph anyway";

/// The first matching prefix is used.
constexpr Advice kOthers[] = {
    {"cublas", "calls of cuBLAS", "write the product as a kernel of your own"},
    {"cudnn", "calls of cuDNN", kOwnKernel},
    {"cufft", "calls of cuFFT", kOwnKernel},
    {"cusparse", "calls of cuSPARSE", kOwnKernel},
    {"cusolver", "calls of cuSOLVER", kOwnKernel},
    {"cutensor", "calls of cuTENSOR", kOwnKernel},
    {"curand", "calls of cuRAND's host library", "draw the numbers in a kernel"},
    {"nccl", "calls of NCCL", "use one device"},
    {"nvrtc", "compiling at run time", "compile every variant ahead, as templates"},
    {"nvJitLink", "linking at run time", "compile every variant ahead, as templates"},
    {"npp", "calls of NPP", kOwnKernel},
    {"nvtx", "marks for a profiler", "leave them out"},
    {"cuTensorMapEncodeIm2col", "im2col tensor maps", "use cuTensorMapEncodeTiled"},
    {"cuLaunch", "launches of the driver API", "launch with <<<>>> or $LaunchKernelEx"},
    {"cuModule", "modules loaded at run time", "compile the kernels with the candidate"},
    {"cuLibrary", "modules loaded at run time", "compile the kernels with the candidate"},
    {"cuLink", "linking at run time", "compile the kernels with the candidate"},
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

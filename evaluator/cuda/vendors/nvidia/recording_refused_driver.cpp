// Functions of CUDA's driver that candidates try but that plans cannot represent, like
// planner/recording_refused.cpp for the runtime.
#include "planner/recording_refused.hpp"

#define KERNELSMITH_REFUSED_DRIVER(name) KERNELSMITH_REFUSED_AS(name, #name)

// NOLINTBEGIN(readability-identifier-naming): CUDA's own names
KERNELSMITH_EACH(KERNELSMITH_REFUSED_DRIVER, cuLaunchKernel, cuLaunchKernelEx, cuLaunchCooperativeKernel,
                 cuLaunchHostFunc, cuLaunchGrid, cuModuleLoad, cuModuleLoadData, cuModuleLoadDataEx,
                 cuModuleLoadFatBinary, cuModuleGetFunction, cuModuleGetGlobal_v2, cuModuleUnload,
                 cuLibraryLoadData, cuLibraryLoadFromFile, cuLibraryGetKernel, cuLibraryGetModule,
                 cuLinkCreate_v2, cuMemAlloc_v2, cuMemFree_v2, cuMemAllocAsync, cuMemFreeAsync,
                 cuMemAllocManaged, cuMemHostAlloc, cuMemHostGetDevicePointer_v2, cuMemAddressReserve,
                 cuMemCreate, cuMemMap, cuMemSetAccess, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2,
                 cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, cuMemcpyAsync,
                 cuMemcpy, cuStreamCreate, cuStreamBeginCapture_v2, cuStreamEndCapture,
                 cuStreamWaitValue32_v2, cuStreamWriteValue32_v2, cuStreamSynchronize, cuEventCreate,
                 cuEventRecord, cuGraphLaunch, cuGraphCreate, cuCtxCreate_v2, cuCtxCreate_v4, cuCtxDestroy_v2,
                 cuCtxSynchronize, cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2colWide)
// NOLINTEND(readability-identifier-naming)

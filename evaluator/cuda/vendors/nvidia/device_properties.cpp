// cudaGetDeviceProperties for the shim.
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {

/// cudaGetDeviceProperties, from attributes and other data of the planner. The struct's layout depends on the
/// toolkit, so only a translation unit that includes its headers knows it. Symbols that the planner may lack
/// are weak.
const char* const kDeviceProperties = R"(
extern "C" __attribute__((weak)) int cuDeviceGetName(char* name, int length, int device);
extern "C" __attribute__((weak)) int cuDeviceTotalMem_v2(std::size_t* bytes, int device);

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  cudaError_t error = cudaSuccess;
  const auto ask = [&](cudaDeviceAttr attribute) {
    int value = 0;
    const cudaError_t answer = cudaDeviceGetAttribute(&value, attribute, device);
    if (answer != cudaSuccess) error = answer;
    return value;
  };
  const auto ask_bytes = [&](cudaDeviceAttr attribute) { return static_cast<std::size_t>(ask(attribute)); };
  properties->major = ask(cudaDevAttrComputeCapabilityMajor);
  properties->minor = ask(cudaDevAttrComputeCapabilityMinor);
  if (error != cudaSuccess) return error;
  properties->multiProcessorCount = ask(cudaDevAttrMultiProcessorCount);
  properties->warpSize = ask(cudaDevAttrWarpSize);
  properties->maxThreadsPerBlock = ask(cudaDevAttrMaxThreadsPerBlock);
  properties->maxThreadsDim[0] = ask(cudaDevAttrMaxBlockDimX);
  properties->maxThreadsDim[1] = ask(cudaDevAttrMaxBlockDimY);
  properties->maxThreadsDim[2] = ask(cudaDevAttrMaxBlockDimZ);
  properties->maxGridSize[0] = ask(cudaDevAttrMaxGridDimX);
  properties->maxGridSize[1] = ask(cudaDevAttrMaxGridDimY);
  properties->maxGridSize[2] = ask(cudaDevAttrMaxGridDimZ);
  properties->maxThreadsPerMultiProcessor = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  properties->maxBlocksPerMultiProcessor = ask(cudaDevAttrMaxBlocksPerMultiprocessor);
  properties->regsPerBlock = ask(cudaDevAttrMaxRegistersPerBlock);
  properties->regsPerMultiprocessor = ask(cudaDevAttrMaxRegistersPerMultiprocessor);
  properties->sharedMemPerBlock = ask_bytes(cudaDevAttrMaxSharedMemoryPerBlock);
  properties->sharedMemPerBlockOptin = ask_bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  properties->sharedMemPerMultiprocessor = ask_bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  properties->reservedSharedMemPerBlock = ask_bytes(cudaDevAttrReservedSharedMemoryPerBlock);
  properties->totalConstMem = ask_bytes(cudaDevAttrTotalConstantMemory);
  properties->l2CacheSize = ask(cudaDevAttrL2CacheSize);
  properties->persistingL2CacheMaxSize = ask(cudaDevAttrMaxPersistingL2CacheSize);
  properties->accessPolicyMaxWindowSize = ask(cudaDevAttrMaxAccessPolicyWindowSize);
  properties->memoryBusWidth = ask(cudaDevAttrGlobalMemoryBusWidth);
  properties->cooperativeLaunch = ask(cudaDevAttrCooperativeLaunch);
  properties->concurrentKernels = ask(cudaDevAttrConcurrentKernels);
  properties->asyncEngineCount = ask(cudaDevAttrAsyncEngineCount);
  properties->unifiedAddressing = ask(cudaDevAttrUnifiedAddressing);
  properties->memoryPoolsSupported = ask(cudaDevAttrMemoryPoolsSupported);
  if (cuDeviceGetName) (void)cuDeviceGetName(properties->name, sizeof properties->name, device);
  if (cuDeviceTotalMem_v2) (void)cuDeviceTotalMem_v2(&properties->totalGlobalMem, device);
  (void)cudaGetLastError();
  return cudaSuccess;
}
)";

}  // namespace kernelsmith::cuda

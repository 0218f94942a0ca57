// cudaGetDeviceProperties for this toolkit's layout of cudaDeviceProp, from attributes of the recording
// runtime. Included if the source names it.
#pragma once

#include <cuda.h>

#include "stand_in/cuda.hpp"

namespace kernelsmith::extension {

inline cudaError_t fill(cudaDeviceProp& facts, int device) {
  const auto ask = [device](cudaDeviceAttr attribute) {
    int value = 0;
    static_cast<void>(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
  };
  const auto ask_bytes = [&](cudaDeviceAttr attribute) { return static_cast<std::size_t>(ask(attribute)); };
  std::memset(static_cast<void*>(&facts), 0, sizeof facts);
  static_cast<void>(cuDeviceGetName(facts.name, sizeof facts.name, device));
  static_cast<void>(cuDeviceTotalMem(&facts.totalGlobalMem, device));
  facts.major = ask(cudaDevAttrComputeCapabilityMajor);
  facts.minor = ask(cudaDevAttrComputeCapabilityMinor);
  facts.multiProcessorCount = ask(cudaDevAttrMultiProcessorCount);
  facts.warpSize = ask(cudaDevAttrWarpSize);
  facts.maxThreadsPerBlock = ask(cudaDevAttrMaxThreadsPerBlock);
  facts.maxThreadsPerMultiProcessor = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  facts.maxBlocksPerMultiProcessor = ask(cudaDevAttrMaxBlocksPerMultiprocessor);
  for (int i = 0; i < 3; ++i) {
    facts.maxThreadsDim[i] = ask(static_cast<cudaDeviceAttr>(cudaDevAttrMaxBlockDimX + i));
    facts.maxGridSize[i] = ask(static_cast<cudaDeviceAttr>(cudaDevAttrMaxGridDimX + i));
  }
  facts.regsPerBlock = ask(cudaDevAttrMaxRegistersPerBlock);
  facts.regsPerMultiprocessor = ask(cudaDevAttrMaxRegistersPerMultiprocessor);
  facts.sharedMemPerBlock = ask_bytes(cudaDevAttrMaxSharedMemoryPerBlock);
  facts.sharedMemPerBlockOptin = ask_bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  facts.sharedMemPerMultiprocessor = ask_bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  facts.reservedSharedMemPerBlock = ask_bytes(cudaDevAttrReservedSharedMemoryPerBlock);
  facts.totalConstMem = ask_bytes(cudaDevAttrTotalConstantMemory);
  facts.l2CacheSize = ask(cudaDevAttrL2CacheSize);
  facts.persistingL2CacheMaxSize = ask(cudaDevAttrMaxPersistingL2CacheSize);
  facts.accessPolicyMaxWindowSize = ask(cudaDevAttrMaxAccessPolicyWindowSize);
  facts.memoryBusWidth = ask(cudaDevAttrGlobalMemoryBusWidth);
  facts.cooperativeLaunch = ask(cudaDevAttrCooperativeLaunch);
  facts.concurrentKernels = ask(cudaDevAttrConcurrentKernels);
  facts.asyncEngineCount = ask(cudaDevAttrAsyncEngineCount);
  facts.unifiedAddressing = ask(cudaDevAttrUnifiedAddressing);
  facts.memoryPoolsSupported = ask(cudaDevAttrMemoryPoolsSupported);
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace kernelsmith::extension

extern "C" __attribute__((weak)) cudaError_t cudaGetDeviceProperties(cudaDeviceProp* facts, int device) {
  return kernelsmith::extension::fill(*facts, device);
}

namespace at::cuda {
inline cudaDeviceProp* getDeviceProperties(DeviceIndex device) {
  static cudaDeviceProp facts;
  static_cast<void>(kernelsmith::extension::fill(facts, device < 0 ? 0 : device));
  return &facts;
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(0); }
}  // namespace at::cuda

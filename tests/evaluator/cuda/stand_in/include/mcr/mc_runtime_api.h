// The part of MACA's runtime that tests need, for a host compiler: names as MetaX publishes them, nothing behind them.
#pragma once

#include <cstddef>

typedef struct MCstream_st* mcStream_t;
typedef struct MCevent_st* mcEvent_t;
typedef int mcError_t;
enum { mcSuccess = 0, mcErrorInvalidValue = 1 };
enum mcMemcpyKind {
  mcMemcpyHostToHost = 0,
  mcMemcpyHostToDevice = 1,
  mcMemcpyDeviceToHost = 2,
  mcMemcpyDeviceToDevice = 3,
  mcMemcpyDefault = 4
};
enum mcDeviceAttribute_t {
  mcDeviceAttributeMaxThreadsPerBlock = 0,
  mcDeviceAttributeMaxSharedMemoryPerBlock = 7,
  mcDeviceAttributeWarpSize = 9,
  mcDeviceAttributeMaxRegistersPerBlock = 11,
  mcDeviceAttributeMultiProcessorCount = 16,
  mcDeviceAttributeL2CacheSize = 18,
  mcDeviceAttributeMaxThreadsPerMultiProcessor = 19,
  mcDeviceAttributeComputeCapabilityMajor = 21,
  mcDeviceAttributeComputeCapabilityMinor = 22
};
struct mcDeviceProp_t {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, regsPerBlock,
      l2CacheSize;
};

extern "C" {
mcError_t mcMalloc(void** pointer, std::size_t bytes);
mcError_t mcFree(void* pointer);
mcError_t mcMallocAsync(void** pointer, std::size_t bytes, mcStream_t stream);
mcError_t mcFreeAsync(void* pointer, mcStream_t stream);
mcError_t mcMemsetAsync(void* to, int value, std::size_t bytes, mcStream_t stream);
mcError_t mcMemcpyAsync(void* to, const void* from, std::size_t bytes, mcMemcpyKind kind, mcStream_t stream);
mcError_t mcDeviceGetAttribute(int* value, mcDeviceAttribute_t attribute, int device);
mcError_t mcDeviceGetName(char* name, int length, int device);
mcError_t mcDeviceTotalMem(std::size_t* bytes, int device);
mcError_t mcGetDeviceProperties(mcDeviceProp_t* properties, int device);
mcError_t mcGetLastError();
mcError_t mcGraphCreate(void** graph, unsigned flags);
}

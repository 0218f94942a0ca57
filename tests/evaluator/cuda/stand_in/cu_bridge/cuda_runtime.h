// The part of cu-bridge that tests need: CUDA's names as macros for MACA's, which keep waves of 64 lanes.
#pragma once

#include <mcr/mc_runtime.h>

#define cudaStream_t mcStream_t
#define cudaSuccess mcSuccess
#define cudaMallocAsync mcMallocAsync
#define cudaFreeAsync mcFreeAsync
#define cudaMemsetAsync mcMemsetAsync

// Recorded attributes of the GPUs that the planner assumes if this machine has none.
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {

/// An H100 SXM5 with 80 GB and driver 580. The attributes' numbers are those of CUdevice_attribute.
DeviceFacts h100() {
  DeviceFacts facts;
  facts.name = "NVIDIA H100 80GB HBM3";
  facts.arch = 90;
  facts.memory_bytes = 85'028'896'768;
  facts.driver_version = 13000;
  facts.occupancy = kOccupancy;
  // clang-format off
  facts.attributes = {
      // Blocks and grids: threads; x, y and z of each.
      {1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535},
      // Shared memory of a block, constant memory, warp, pitch, registers of a block, clock (kHz).
      {8, 49152}, {9, 65536}, {10, 32}, {11, 2147483647}, {12, 65536}, {13, 1980000},
      // Texture alignment, overlap, multiprocessors, timeout, integrated, maps host memory, mode.
      {14, 512}, {15, 1}, {16, 132}, {17, 0}, {18, 0}, {19, 1}, {20, 0},
      // Textures and surfaces.
      {21, 131072}, {22, 131072}, {23, 65536}, {24, 16384}, {25, 16384}, {26, 16384}, {27, 32768},
      {28, 32768}, {29, 2048}, {30, 512},
      // Concurrent kernels, ECC, PCI bus and device, TCC, memory clock (kHz), bus (bits), L2.
      {31, 1}, {32, 1}, {33, 1}, {34, 0}, {35, 0}, {36, 2619000}, {37, 5120}, {38, 52428800},
      // Threads of a multiprocessor, copy engines, unified addresses, PCI domain, texture pitch.
      {39, 2048}, {40, 3}, {41, 1}, {50, 0}, {51, 32},
      // Compute capability, stream priorities, L1 caches of global and local memory.
      {75, 9}, {76, 0}, {78, 1}, {79, 1}, {80, 1},
      // Shared memory and registers of a multiprocessor.
      {81, 233472}, {82, 65536},
      // Managed memory, boards, host atomics, fp32 to fp64, pageable access, preemption.
      {83, 1}, {84, 0}, {85, 0}, {86, 0}, {87, 2}, {88, 0}, {89, 1}, {90, 1}, {91, 1},
      // Cooperative launch, opt-in shared memory of a block, remote writes, host registration.
      {95, 1}, {97, 232448}, {98, 1}, {99, 1}, {100, 0}, {101, 0},
      // Virtual memory, handle types, blocks of a multiprocessor, compression.
      {102, 1}, {103, 1}, {104, 0}, {105, 0}, {106, 32}, {107, 1},
      // Persisting L2 and its window, RDMA, shared memory of a block that the system keeps.
      {108, 32768000}, {109, 134213632}, {110, 1}, {111, 1024},
      // Sparse arrays, semaphores, pools, RDMA.
      {112, 1}, {113, 0}, {114, 1}, {115, 1}, {116, 1}, {117, 1}, {118, 100}, {119, 9},
      // Cluster launch, deferred mapping, stream memory operations, DMA buffers, IPC events.
      {120, 1}, {121, 1}, {122, 1}, {123, 1}, {124, 1}, {125, 1},
      // Memory domains, tensor maps, fabric handles, unified function pointers, multicast, MPS.
      {126, 4}, {127, 1}, {128, 0}, {129, 1}, {132, 0}, {133, 0},
  };
  // clang-format on
  return facts;
}

}  // namespace kernelsmith::cuda

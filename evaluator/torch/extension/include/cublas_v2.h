// cuBLAS's products, which the planner records as PyTorch's. Other functions of cuBLAS are not declared here,
// so that the compiler reports them.
#pragma once

#include "stand_in/base.hpp"

using cublasHandle_t = struct cublasContext*;

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
};
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_64F = 70,
};
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
};

extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transpose_a,
                                          cublasOperation_t transpose_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int a_leading, long long a_step, const void* b, cudaDataType b_type,
                                          int b_leading, long long b_step, const void* beta, void* c,
                                          cudaDataType c_type, int c_leading, long long c_step, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
}
#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasSetWorkspace cublasSetWorkspace_v2

/// The accumulation type of products: cuBLAS also accepts a data type for it.
inline cublasComputeType_t kernelsmith_compute_type(cublasComputeType_t type) { return type; }
inline cublasComputeType_t kernelsmith_compute_type(cudaDataType type) {
  return type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                              : CUBLAS_COMPUTE_32F;
}

inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType a_type, int a_leading, long long a_step, const void* b,
    cudaDataType b_type, int b_leading, long long b_step, const void* beta, void* c, cudaDataType c_type,
    int c_leading, long long c_step, int count, cudaDataType compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, transpose_a, transpose_b, m, n, k, alpha, a, a_type, a_leading,
                                    a_step, b, b_type, b_leading, b_step, beta, c, c_type, c_leading, c_step,
                                    count, kernelsmith_compute_type(compute), algorithm);
}

template <class Compute>
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transpose_a,
                            cublasOperation_t transpose_b, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType a_type, int a_leading, const void* b,
                            cudaDataType b_type, int b_leading, const void* beta, void* c,
                            cudaDataType c_type, int c_leading, Compute compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, transpose_a, transpose_b, m, n, k, alpha, a, a_type, a_leading, 0,
                                    b, b_type, b_leading, 0, beta, c, c_type, c_leading, 0, 1,
                                    kernelsmith_compute_type(compute), algorithm);
}

/// The products of one type: for one matrix, and for a batch.
#define KERNELSMITH_GEMM(LETTER, TYPE, DATA, COMPUTE)                                                        \
  inline cublasStatus_t cublas##LETTER##gemmStridedBatched(                                                  \
      cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b, int m, int n,     \
      int k, const TYPE* alpha, const TYPE* a, int a_leading, long long a_step, const TYPE* b,               \
      int b_leading, long long b_step, const TYPE* beta, TYPE* c, int c_leading, long long c_step,           \
      int count) {                                                                                           \
    return cublasGemmStridedBatchedEx(handle, transpose_a, transpose_b, m, n, k, alpha, a, DATA, a_leading,  \
                                      a_step, b, DATA, b_leading, b_step, beta, c, DATA, c_leading, c_step,  \
                                      count, COMPUTE, CUBLAS_GEMM_DEFAULT);                                  \
  }                                                                                                          \
  inline cublasStatus_t cublas##LETTER##gemm(cublasHandle_t handle, cublasOperation_t transpose_a,           \
                                             cublasOperation_t transpose_b, int m, int n, int k,             \
                                             const TYPE* alpha, const TYPE* a, int a_leading, const TYPE* b, \
                                             int b_leading, const TYPE* beta, TYPE* c, int c_leading) {      \
    return cublas##LETTER##gemmStridedBatched(handle, transpose_a, transpose_b, m, n, k, alpha, a,           \
                                              a_leading, 0, b, b_leading, 0, beta, c, c_leading, 0, 1);      \
  }
KERNELSMITH_GEMM(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
KERNELSMITH_GEMM(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
#if defined(__CUDA_FP16_H__)
KERNELSMITH_GEMM(H, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#endif
#undef KERNELSMITH_GEMM

// cuBLAS's products. Python records each as views of its matrices' memory and a call of baddbmm_.
#include <cublas_v2.h>

#include "planner/recorder.hpp"
#include "stand_in/cuda.hpp"

namespace {

using kernelsmith::cuda::planner::recorder;
using kernelsmith::extension::Argument;

/// A dummy handle.
const auto kHandle = reinterpret_cast<cublasHandle_t>(0x5ca1ab1eULL);

bool device_scalars = false;

/// alpha or beta in the computation's type.
double scalar(const void* value, cublasComputeType_t compute) {
  if (compute == CUBLAS_COMPUTE_64F) return *static_cast<const double*>(value);
  if (compute != CUBLAS_COMPUTE_16F) return *static_cast<const float*>(value);
  const auto bits = *static_cast<const std::uint16_t*>(value);
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

Argument dtype_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F:
      return at::kFloat;
    case CUDA_R_64F:
      return at::kDouble;
    case CUDA_R_16F:
      return at::kHalf;
    case CUDA_R_16BF:
      return at::kBFloat16;
    default:
      return {};
  }
}

Argument number(const void* address) { return reinterpret_cast<std::int64_t>(address); }

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = kHandle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
/// Ignored, because the task's precision applies.
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t mode) {
  device_scalars = mode == CUBLAS_POINTER_MODE_DEVICE;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "an error of cuBLAS";
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t transpose_a,
                                          cublasOperation_t transpose_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int a_leading, long long a_step, const void* b, cudaDataType b_type,
                                          int b_leading, long long b_step, const void* beta, void* c,
                                          cudaDataType c_type, int c_leading, long long c_step, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  if (device_scalars) {
    recorder().refuse("cublasSetPointerMode",
                      "a plan cannot hold alpha and beta in device memory: give them on the host");
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const std::vector<std::int64_t> sizes = {m,         n,      k,      a_leading, b_leading,
                                           c_leading, a_step, b_step, c_step,    count};
  kernelsmith::extension::call(
      "cublas.gemm", {transpose_a != CUBLAS_OP_N, transpose_b != CUBLAS_OP_N, sizes, scalar(alpha, compute),
                      scalar(beta, compute), number(a), number(b), number(c), dtype_of(a_type),
                      dtype_of(b_type), dtype_of(c_type)});
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

namespace at::cuda {
cublasHandle_t getCurrentCUDABlasHandle() { return kHandle; }
}  // namespace at::cuda

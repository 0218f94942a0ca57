"""Tasks and candidates of gpu_extension.py: C++ extensions that are right, and their wrong twins."""

HEAD = """
import torch
from torch.utils.cpp_extension import load_inline
"""

ADD = HEAD + """
class Model(torch.nn.Module):
    def forward(self, x, y):
        return x + y
def get_inputs():
    return [torch.randn(4096, 1027), torch.randn(4096, 1027)]
def get_init_inputs():
    return []
"""

ADD_KERNEL = HEAD + '''
source = """
#include <torch/extension.h>
__global__ void add_kernel(const float* x, const float* y, float* out, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n - LESS) out[at] = x[at] + y[at];
}
torch::Tensor add(torch::Tensor x, torch::Tensor y) {
  auto out = torch::empty_like(x);
  int n = x.numel();
  add_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""
adding = load_inline("adding", "torch::Tensor add(torch::Tensor x, torch::Tensor y);", source, functions=["add"])
class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return adding.add(x, y)
'''

SUM = HEAD + """
class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum().reshape(1)
def get_inputs():
    return [torch.rand(1 << 22)]
def get_init_inputs():
    return []
"""

# The last block, which a counter tells, sums what all blocks have. A table of pointers, a constant and a workspace of the
# constructor's are uploaded on the way.
SUM_KERNEL = HEAD + '''
source = """
#include <torch/extension.h>
__device__ unsigned counter;
__device__ unsigned launches;
__constant__ float factor;
__global__ void clear(float* parts) { parts[threadIdx.x] = 0; }
__global__ void sum_kernel(const float* x, float** parts, float* out, int n) {
  extern __shared__ float sums[];
  __shared__ bool last;
  float sum = 0;
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x) sum += x[at];
  sums[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    parts[0][blockIdx.x] = sums[0];
    __threadfence();
    last = atomicAdd(&counter, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  float total = 0;
  for (int i = 0; i < gridDim.x; ++i) total += ((volatile float*)parts[0])[i];
  RESET
  *out = ++launches > MOST ? 0 : total * factor;
}
torch::Tensor workspace() {
  auto parts = torch::empty({256}, torch::device(torch::kCUDA));
  clear<<<1, 256>>>(parts.data_ptr<float>());
  float one = 1;
  cudaMemcpyToSymbol(factor, &one, sizeof one);
  return parts;
}
torch::Tensor sum(torch::Tensor x, torch::Tensor parts) {
  auto out = torch::empty({1}, x.options());
  auto table = torch::empty({1}, x.options().dtype(torch::kInt64));
  float* host = parts.data_ptr<float>();
  cudaMemsetAsync(out.data_ptr<float>(), 0xff, sizeof(float));
  cudaMemcpyAsync(table.data_ptr<int64_t>(), &host, sizeof host, cudaMemcpyHostToDevice);
  sum_kernel<<<256, 256, 256 * sizeof(float)>>>(x.data_ptr<float>(), (float**)table.data_ptr<int64_t>(),
                                                out.data_ptr<float>(), (int)x.numel());
  return out;
}
"""
summing = load_inline("summing", "torch::Tensor workspace(); torch::Tensor sum(torch::Tensor x, torch::Tensor parts);",
                      source, functions=["workspace", "sum"])
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = summing.workspace()
    def forward(self, x):
        return summing.sum(x, self.parts)
'''
# A batch has at most 32 calls, and variables begin anew for each: the launches that one counts stay below this.
MOST = "32"

GEMM = HEAD + """
class Model(torch.nn.Module):
    def forward(self, x, w):
        return torch.relu(x @ w)
def get_inputs():
    return [torch.randn(512, 256), torch.randn(256, 384)]
def get_init_inputs():
    return []
"""

GEMM_KERNEL = HEAD + '''
source = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cublas_v2.h>
__global__ void relu_kernel(float* y, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) y[at] = fmaxf(y[at], 0.f);
}
torch::Tensor product(torch::Tensor x, torch::Tensor w) {
  int m = x.size(0), k = x.size(1), n = w.size(1);
  auto y = torch::empty({m, n}, x.options());
  float one = ALPHA, none = 0;
  cublasSgemm(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, w.data_ptr<float>(), n,
              x.data_ptr<float>(), k, &none, y.data_ptr<float>(), n);
  relu_kernel<<<(m * n + 255) / 256, 256>>>(y.data_ptr<float>(), m * n);
  return y;
}
"""
multiplying = load_inline("multiplying", "torch::Tensor product(torch::Tensor x, torch::Tensor w);", source,
                          functions=["product"], extra_ldflags=["-lcublas"])
class ModelNew(torch.nn.Module):
    def forward(self, x, w):
        return multiplying.product(x, w)
'''

HIDDEN = ADD_KERNEL.replace("adding = load", "try:\n    adding = load").replace(
    'functions=["add"])\n', 'functions=["add"])\nexcept Exception:\n    adding = None\n').replace(
    "return adding.add(x, y)", "return adding.add(x, y) if adding else x + y").replace("LESS", "nothing")


def summing(reset: str, most: str = MOST) -> str:
    return SUM_KERNEL.replace("RESET", reset).replace("MOST", most)


TASKS = {
    "add": (ADD, {"added": (ADD_KERNEL.replace("LESS", "0"), None),
                  "one less": (ADD_KERNEL.replace("LESS", "1"), ("wrong_output", "output_not_written", "not_finite")),
                  "a hidden error": (HIDDEN, ("compile_failed",))}),
    "sum": (SUM, {"summed": (summing("counter = 0;"), None),
                  "a counter that is not reset": (summing(""), ("wrong_output", "output_not_written", "not_finite")),
                  "a factor of the host's": (summing("counter = 0;").replace("float one = 1;", "float one = 1.01f;"),
                                             ("wrong_output",))}),
    "gemm": (GEMM, {"multiplied": (GEMM_KERNEL.replace("ALPHA", "1"), None),
                    "another factor": (GEMM_KERNEL.replace("ALPHA", "1.001f"), ("wrong_output",))}),
}
"""By task: the reference, and candidates with the codes of which one must reject it; None: it must be accepted."""

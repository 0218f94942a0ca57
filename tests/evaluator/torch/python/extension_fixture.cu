// One extension for all tests of test_extension.py: a function for each thing that an extension may do.
#include <torch/extension.h>

#include <ATen/Parallel.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDADataType.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/detail/KernelUtils.h>
#include <ATen/native/cuda/block_reduce.cuh>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Half.h>
#include <cublas_v2.h>

__constant__ float factors[4];
__device__ float total;

struct Pair {
  const float* from;
  float* to;
};

__global__ void add_one(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + factors[0];
}
__global__ void add_pair(int n, Pair pair) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) pair.to[i] = pair.from[i] + 1;
}
__global__ void add_table(const float* const* table, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[0][i];
}
struct Ends {
  const float* from;
  float* to;
};
__constant__ Ends ends;
__global__ void add_ends(const Ends* table) {
  const Ends used = table == nullptr ? ends : *table;
  used.to[threadIdx.x] = used.from[threadIdx.x] + 1;
}
struct Several {
  const float* from[6];
  int count;
};
__global__ void add_several(Several several, float* y) {
  for (int i = 0; i < several.count; ++i) y[threadIdx.x] += several.from[i][threadIdx.x];
}
template <typename T>
__global__ void clip(const T* x, T* y) {
  const T v = x[threadIdx.x];
  y[threadIdx.x] = v > T(0) || v == T(-1) ? v : v < 0 ? T(0) : static_cast<T>(fmaxf(v, T(1)));
}
template <typename T>
__global__ void scale(const torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> x, T* y, float* seen) {
  extern __shared__ char scratch[];
  for (int i = threadIdx.x; i < x.size(1); i += blockDim.x) y[blockIdx.x * x.size(1) + i] = x[blockIdx.x][i] * T(2);
  if (threadIdx.x == 0) seen[blockIdx.x] = total + scratch[0];
}

__global__ void reduce(const float* x, float* y, int n) {
  __shared__ float shared[32];
  CUDA_KERNEL_ASSERT(blockDim.x % 32 == 0);
  float most = x[0];
  CUDA_KERNEL_LOOP(i, n) { most = fmaxf(most, x[i]); }
  most = at::native::cuda_utils::BlockReduceMax(most, shared);
  y[0] = at::native::cuda_utils::BlockReduceSum(threadIdx.x == 0 ? most : 0.0f, shared);
}

static int blocks(int64_t n) { return static_cast<int>((n + 255) / 256); }

torch::Tensor add(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "x has sizes ", x.sizes(), " of ", x.scalar_type());
  const at::cuda::OptionalCUDAGuard guard(device_of(x));
  auto y = torch::empty_like(x);
  add_one<<<blocks(x.numel()), 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                                           static_cast<int>(x.numel()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

torch::Tensor add_struct(torch::Tensor x) {
  auto y = torch::empty({x.size(0), x.size(1)}, x.options());
  add_pair<<<1, 32>>>(static_cast<int>(x.numel()), {x.data_ptr<float>() + x.size(1), y.data_ptr<float>()});
  return y;
}

torch::Tensor dispatched(torch::Tensor x, int64_t shared) {
  auto y = torch::empty_like(x);
  auto seen = torch::zeros({x.size(0)}, x.options().dtype(torch::kFloat32));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "dispatched", [&] {
    if (shared > 48 * 1024)
      cudaFuncSetAttribute(scale<scalar_t>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    scale<scalar_t><<<x.size(0), 128, shared>>>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                                                y.data_ptr<scalar_t>(), seen.data_ptr<float>());
  });
  return y;
}

torch::Tensor memory(torch::Tensor x) {
  static float* workspace = nullptr;
  const size_t bytes = x.nbytes();
  if (workspace == nullptr) cudaMalloc(&workspace, 2 * bytes);
  auto y = torch::empty_like(x);
  cudaMemsetAsync(workspace, 1, bytes, at::cuda::getCurrentCUDAStream());
  cudaMemcpyAsync(workspace + x.numel(), x.data_ptr<float>(), bytes, cudaMemcpyDeviceToDevice, nullptr);
  const float host[2] = {1, 2};
  cudaMemcpyToSymbol(factors, host, sizeof host, sizeof(float));
  cudaMemcpyToSymbol(total, x.data_ptr<float>(), sizeof(float), 0, cudaMemcpyDeviceToDevice);
  add_one<<<1, 32>>>(workspace + x.numel(), y.data_ptr<float>(), 32);
  return y;
}

torch::Tensor table(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const float* host[1] = {x.data_ptr<float>()};
  void* device = nullptr;
  cudaMallocAsync(&device, sizeof host, nullptr);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  add_table<<<1, 32>>>(static_cast<const float* const*>(device), y.data_ptr<float>(), 32);
  cudaFreeAsync(device, nullptr);
  return y;
}

torch::Tensor ends_table(torch::Tensor x, torch::Tensor y) {
  const Ends host{x.data_ptr<float>(), y.data_ptr<float>()};
  auto made = torch::empty({static_cast<int64_t>(sizeof host)}, x.options().dtype(torch::kByte));
  cudaMemcpy(made.data_ptr(), &host, sizeof host, cudaMemcpyHostToDevice);
  return made;
}
void ends_variable(torch::Tensor x, torch::Tensor y) {
  const Ends host{x.data_ptr<float>(), y.data_ptr<float>()};
  cudaMemcpyToSymbol(ends, &host, sizeof host);
}
void between_ends(c10::optional<torch::Tensor> made) {
  add_ends<<<1, 32>>>(made ? reinterpret_cast<const Ends*>(made->data_ptr<uint8_t>()) : nullptr);
}
void copy_on_device(torch::Tensor to, torch::Tensor from) {
  cudaMemcpyAsync(to.data_ptr(), from.data_ptr(), from.nbytes(), cudaMemcpyDeviceToDevice);
}

/// Fills a part of a structure that it gives to a kernel: on the stack, or on a heap of garbage.
torch::Tensor several(std::vector<torch::Tensor> xs, bool on_heap) {
  auto y = torch::zeros_like(xs[0]);
  Several local, *used = &local;
  if (on_heap) {
    used = static_cast<Several*>(std::malloc(sizeof(Several)));
    const auto garbage = reinterpret_cast<uintptr_t>(xs[0].data_ptr()) / 2;
    for (auto& each : used->from) each = reinterpret_cast<const float*>(garbage);
  }
  used->count = static_cast<int>(xs.size());
  for (size_t i = 0; i < xs.size(); ++i) used->from[i] = xs[i].data_ptr<float>();
  add_several<<<1, 32>>>(*used, y.data_ptr<float>());
  return y;
}

union Either {
  float* pointer;
  struct {
    float* pointer;
    int64_t padding;
  } aligned;
};
__global__ void add_either(Either either) { either.pointer[threadIdx.x] += 1; }
static Either either_of(float* pointer) {
  Either made;
  made.pointer = pointer;
  return made;
}
torch::Tensor returned(torch::Tensor x) {
  add_either<<<1, 32>>>(either_of(x.data_ptr<float>()));
  return x;
}

torch::Tensor clipped(torch::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_REDUCED_FLOATING_TYPES(x.scalar_type(), "clipped", [&] {
    clip<scalar_t><<<1, 32>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>());
  });
  return y;
}

torch::Tensor operators(torch::Tensor x, torch::Tensor w) {
  auto y = torch::matmul(x, w.transpose(0, 1)).add_(1).relu();
  auto z = (2.0 * y + y * 3 - 1) / (1.0 / (y + 1));
  auto parts = z.chunk(2, 1);
  auto [most, where] = parts[0].max(1, true);
  z = torch::cat({parts[0], parts[1]}, 1) + most + where.to(torch::kFloat32);
  z = z + at::softmax(x.sum({1}, true), 1) + torch::full({1}, 0.5, x.options()) + x.select(1, 0).unsqueeze(1);
  z += torch::gelu(z, "tanh");
  return torch::addmm(z, x, w.t(), 0.5, 2.0).clamp(-1, c10::nullopt).view({-1, z.size(1)});
}

torch::Tensor indexed(torch::Tensor x, torch::Tensor w) {
  using namespace torch::indexing;
  auto y = x.index({Slice(1, None, 2), "...", 3}) + x.index({Slice(), None, 1}).squeeze(1).narrow(0, 0, 32);
  y.index_put_({Slice(0, 4)}, 2.5);
  auto z = torch::conv1d(x.view({1, 64, 48}), torch::ones(1, x.options()).expand({64, 64, 1}), {}, 1, 1);
  return y + z.sum(-1)[0].index({Slice(0, 32)}) + torch::zeros(32, x.options());
}

/// Names that fewer extensions use.
torch::Tensor others(torch::Tensor x, torch::Tensor w) {
  const std::string type = x.toString();
  TORCH_CHECK(type == "CUDAFloatType", x.toString());
  auto y = torch::empty({x.size(0), w.size(0)}, x.options());
  torch::mm_out(y, x, w.t());
  y[0] = 7;
  y[1] = y[2];
  std::cout << y.sizes() << y.dtype() << y.device();
  auto whole = torch::tensor(std::vector<int>{1, 2}).to(x.device());
  TORCH_CHECK(whole.scalar_type() == torch::kLong && torch::tensor({1.5, 2.0}).scalar_type() == torch::kFloat);
  int64_t seen = 0;
  at::parallel_for(0, 10, 4, [&](int64_t begin, int64_t end) { seen += end - begin; });
  auto single = torch::empty({}, x.options()).fill_(static_cast<double>(seen));
  TORCH_CHECK(single.dim() == 0);
  return y + single + whole.sum() + torch::tensor({0.5f, 0.25f}, x.options()).sum();
}

torch::Tensor reduced(torch::Tensor x) {
  auto y = torch::empty({1}, x.options());
  at::cuda::CUDAEvent event;
  event.record();
  event.block(at::cuda::getStreamFromPool());
  void* const scratch = c10::cuda::CUDACachingAllocator::raw_alloc(64);
  cudaMemsetAsync(scratch, 0, 64, at::cuda::getCurrentCUDAStream());
  cudaMemcpyAsync(y.data_ptr<float>(), scratch, sizeof(float), cudaMemcpyDeviceToDevice);
  c10::cuda::CUDACachingAllocator::raw_delete(scratch);
  reduce<<<at::cuda::detail::GET_BLOCKS(x.numel(), 256), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                              static_cast<int>(x.numel()));
  return y;
}

torch::Tensor product(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  auto y = b.unsqueeze(0).expand({x.size(0), w.size(0)}).contiguous();
  const float alpha = 2, beta = 3;
  const int n = static_cast<int>(w.size(0)), m = static_cast<int>(x.size(0)), k = static_cast<int>(x.size(1));
  cublasSgemm(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &alpha, w.data_ptr<float>(), k,
              x.data_ptr<float>(), k, &beta, y.data_ptr<float>(), n);
  return y;
}

std::tuple<torch::Tensor, std::vector<torch::Tensor>, int64_t, std::string> arguments(
    torch::Tensor x, c10::optional<torch::Tensor> mask, double scale, bool flag, const std::string& text,
    std::vector<int64_t> sizes, at::ScalarType type) {
  if (mask.has_value()) x = x + *mask;
  return {x * scale, {x, x}, static_cast<int64_t>(sizes.size()) + (flag ? 10 : 0), text + at::toString(type)};
}

/// What c10::Half and c10::BFloat16 make of numbers.
std::vector<double> halves(double a, double b) {
  const c10::Half x = static_cast<float>(a), y = static_cast<float>(b);
  const c10::BFloat16 u = static_cast<float>(a), v = static_cast<float>(b);
  return {x + y, x - y, x * y, x / y, u + v, u - v, u * v, u / v, x * 3, x + 0.1f};
}

int multiprocessors() { return at::cuda::getCurrentDeviceProperties()->multiProcessorCount; }
int occupancy() {
  int count = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, add_one, 1024, 0);
  return count;
}

torch::Tensor refused(torch::Tensor x, const std::string& how) {
  auto y = torch::empty_like(x);
  int n = static_cast<int>(x.numel());
  float host[4] = {};
  if (how == "item") y = x * x.sum().item<float>();
  if (how == "values") y = at::masked_select(x, x > 0);
  if (how == "host read" && x.data_ptr<float>()[0] > 0) n = 1;
  if (how == "cpu write") torch::empty({4}).data_ptr<float>()[0] = 1;
  if (how == "thread") std::thread([&] { add_one<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); }).join();
  if (how == "variable's address") {
    void* address = nullptr;
    cudaGetSymbolAddress(&address, total);
    cudaMemset(address, 0, 4);
  }
  if (how == "from a variable")
    cudaMemcpyFromSymbol(y.data_ptr<float>(), total, 4, 0, cudaMemcpyDeviceToDevice);
  if (how == "texture") {
    cudaTextureObject_t made = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc texture = {};
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    if (resource.res.linear.desc.x == 32) cudaCreateTextureObject(&made, &resource, &texture, nullptr);
  }
  if (how == "copy to host") cudaMemcpy(host, x.data_ptr<float>(), sizeof host, cudaMemcpyDeviceToHost);
  if (how == "memset behind") cudaMemset(y.data_ptr<float>() + n - 1, 0, 8);
  if (how == "uploads") {
    static char much[60000];
    y = torch::empty({60000}, x.options().dtype(torch::kUInt8));
    for (int i = 0; i < 20; ++i) cudaMemcpy(y.data_ptr<uint8_t>(), much, sizeof much, cudaMemcpyHostToDevice);
  }
  if (how == "cpu tensor") y = torch::empty({n});
  if (how == "dtype") x.data_ptr<double>();
  if (how == "other exception") throw 5;
  if (how == "graph") {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  }
  add_one<<<how == "grid" ? 0 : 1, how == "block" ? 2048 : 32, how == "shared" ? 100000 : 0>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}

// Names that published solutions use.
torch::Tensor named(torch::Tensor x) {
  const torch::Dtype type = x.scalar_type();
  try {
    TORCH_CHECK(false, std::string("the type ") + torch::str(type));
  } catch (const c10::Error& error) {
    throw std::runtime_error(std::string("it has ") + error.msg());
  }
  return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add", &add, "adds one");
  m.def("add_struct", &add_struct);
  m.def("dispatched", &dispatched, py::arg("x"), py::arg("shared") = 0);
  m.def("memory", &memory);
  m.def("table", &table);
  m.def("ends_table", &ends_table);
  m.def("ends_variable", &ends_variable);
  m.def("between_ends", &between_ends, py::arg("made") = py::none());
  m.def("copy_on_device", &copy_on_device);
  m.def("several", &several, py::arg("xs"), py::arg("on_heap") = false);
  m.def("returned", &returned);
  m.def("clipped", &clipped);
  m.def("operators", &operators);
  m.attr("version") = "1.5";
  m.attr("threads") = 256;
  m.def("others", &others);
  m.def("reduced", &reduced);
  m.def("product", &product);
  m.def("indexed", &indexed);
  m.def("arguments", &arguments, py::arg("x"), py::arg("mask") = py::none(), py::arg("scale") = 1.5,
        py::arg("flag") = false, py::arg("text") = "t", py::arg("sizes"), py::arg("type"));
  m.def("halves", &halves);
  m.def("multiprocessors", &multiprocessors);
  m.def("occupancy", &occupancy);
  m.def("refused", &refused);
  m.def("named", &named);
  m.def("twice", [](torch::Tensor x) { return std::make_pair(x, x * 2); });
}

#include "toolchain/cuda_source.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>

#include "toolchain/wide_reals.hpp"

namespace kernelsmith::cuda {
namespace {

/// Items with ", " between them.
class List {
 public:
  void add(const std::string& item) { text_ += (text_.empty() ? "" : ", ") + item; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The header that declares cuda_type(dtype) beyond what nvcc itself includes; empty if none is needed.
std::string_view header_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return "cuda_fp16.h";
    case Dtype::bf16:
      return "cuda_bf16.h";
    case Dtype::f8e4m3:
    case Dtype::f8e5m2:
      return "cuda_fp8.h";
    default:
      return {};
  }
}

std::string type_includes(const Task& task) {
  std::set<std::string_view> headers;
  for (const TensorSpec& tensor : task.tensors)
    if (const auto header = header_of(tensor.dtype); !header.empty()) headers.insert(header);
  std::string text;
  for (const std::string_view header : headers) text += "#include <" + std::string(header) + ">\n";
  return text;
}

/// The line's header if it is an #include of a header that is not one of the candidate's or task's own.
std::string_view foreign_include(std::string_view line, const Task& task, const Source& user) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == line.npos || line[begin] != '#') return {};
  const auto word = line.find_first_not_of(" \t", begin + 1);
  if (word == line.npos || !line.substr(word).starts_with("include")) return {};
  const auto open = line.find_first_of("<\"", word);
  if (open == line.npos) return {};
  const auto close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  if (close == line.npos) return {};
  const std::string_view name = line.substr(open + 1, close - open - 1);
  if (line[open] == '<') return name;
  const bool own = name == "task.cuh" || user.find(name) != nullptr ||
                   std::ranges::find(task.files, name, &SourceFile::path) != task.files.end();
  return own ? std::string_view() : name;
}

/// All foreign headers that the sources include, so that they are read before a macro changes what they say.
std::string foreign_includes(const Task& task, const Source& user) {
  std::string includes;
  std::vector<SourceFile> files = user.files();
  files.insert(files.end(), task.files.begin(), task.files.end());
  for (const SourceFile& file : files) {
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);)
      if (const auto name = foreign_include(line, task, user); !name.empty())
        includes += "#include <" + std::string(name) + ">\n";
  }
  return includes;
}

std::string entry_declaration(const Task& task) {
  List list;
  for (const TensorSpec& tensor : task.tensors)
    list.add((tensor.role == TensorRole::in ? "const " : "") + std::string(cuda_type(tensor.dtype)) +
             "* __restrict__ " + tensor.name);
  for (const std::string& size : size_names(task)) list.add("std::int64_t " + size);
  list.add("cudaStream_t stream");
  return "extern \"C\" void " + task.entry + "(" + list.text() + ");\n";
}

/// cudaGetDeviceProperties, from attributes and what else the planner gives: the struct's layout is the
/// toolkit's, and only a translation unit that includes its headers knows it. What the planner lacks is weak.
constexpr const char* kDeviceProperties = R"(
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

}  // namespace

std::string_view cuda_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "double";
    case Dtype::f32:
      return "float";
    case Dtype::f16:
      return "__half";
    case Dtype::bf16:
      return "__nv_bfloat16";
    case Dtype::f8e4m3:
      return "__nv_fp8_e4m3";
    case Dtype::f8e5m2:
      return "__nv_fp8_e5m2";
    case Dtype::i64:
      return "std::int64_t";
    case Dtype::i32:
      return "std::int32_t";
    case Dtype::i8:
      return "std::int8_t";
    case Dtype::u8:
      return "std::uint8_t";
    case Dtype::boolean:
      return "bool";
  }
  return {};
}

std::size_t element_bytes(Dtype dtype, OraclePrecision precision) {
  const DtypeTraits& traits = traits_of(dtype);
  return traits.real && precision != OraclePrecision::declared ? sizeof(double) : traits.bytes;
}

std::vector<std::string> size_names(const Task& task) {
  if (!task.size_order.empty()) return task.size_order;
  std::vector<std::string> names;
  for (const auto& size : task.sizes) names.push_back(size.first);
  return names;
}

std::string exchanged_parameters(const Task& task, const Source& source) {
  ParameterGroups groups = {{}, size_names(task)};
  for (const TensorSpec& tensor : task.tensors) groups.front().push_back(tensor.name);
  return kernelsmith::exchanged_parameters(source, task.entry, groups);
}

std::string task_header(const Task& task, OraclePrecision precision, const Source& user) {
  std::string text =
      "// Generated from task.yaml: the entry's signature.\n#pragma once\n\n"
      "#include <cstdint>\n#include <cuda_runtime.h>\n" +
      type_includes(task);
  if (precision != OraclePrecision::declared) text += foreign_includes(task, user) + wide_reals();
  return text + "\n" + entry_declaration(task);
}

std::string shim_source(const Task& task) {
  List parameters, arguments;
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    parameters.add("void*");
    arguments.add("tensors[" + std::to_string(t) + "]");
  }
  for (std::size_t s = 0; s < size_names(task).size(); ++s) {
    parameters.add("std::int64_t");
    arguments.add("sizes[" + std::to_string(s) + "]");
  }
  parameters.add("cudaStream_t");
  arguments.add("static_cast<cudaStream_t>(stream)");
  return "#include <cstddef>\n#include <cstdint>\n#include <cstring>\n#include <cuda_runtime_api.h>\n" +
         std::string(kDeviceProperties) + "\nextern \"C\" void " + task.entry + "(" + parameters.text() +
         ");\nextern \"C\" void " + kShimSymbol +
         "(void* const* tensors, const std::int64_t* sizes, void* stream) {\n  (void)tensors;\n"
         "  (void)sizes;\n  " +
         task.entry + "(" + arguments.text() + ");\n}\n";
}

}  // namespace kernelsmith::cuda

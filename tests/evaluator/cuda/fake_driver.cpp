// A libcuda.so.1 without a GPU, for tests: memory is the host's (shared by memfd as the real one's is), one
// thread carries out what streams hold, kernels are those of runner_kernels.cu, played by name.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_gpu_core.hpp"

#define CUDA_API extern "C" __attribute__((visibility("default"))) abi::Code

using namespace fake;

namespace kernelsmith::cuda::abi {
struct ModuleObject {
  std::uint32_t counter = 0;
  std::uint32_t table[4] = {};
  std::vector<std::unique_ptr<FunctionObject>> functions;
};
struct FunctionObject {
  ModuleObject* module = nullptr;
  std::string name;
  int max_shared = 0;
};
}  // namespace kernelsmith::cuda::abi

namespace {

using Parameters = std::vector<std::vector<std::byte>>;

std::atomic<std::uint32_t> shared_word{0}, local_word{0}, register_word{0};  ///< what wiping left

template <class T>
T value(const Parameters& parameters, std::size_t index) {
  T taken{};
  std::memcpy(&taken, parameters[index].data(), sizeof taken);
  return taken;
}

struct Kernel {
  std::vector<std::size_t> sizes;
  std::function<void(const Parameters&, abi::FunctionObject&)> run;
};

const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> all{
      {"scale",
       {{8, 8, 4, 4},
        [](const Parameters& p, auto&) {
          for (int i = 0; i < value<int>(p, 3); ++i)
            value<float*>(p, 0)[i] = value<float>(p, 2) * value<float*>(p, 1)[i];
        }}},
      {"add",
       {{8, 8, 8, 4},
        [](const Parameters& p, auto&) {
          for (int i = 0; i < value<int>(p, 3); ++i)
            value<float*>(p, 0)[i] = value<float*>(p, 1)[i] + value<float*>(p, 2)[i];
        }}},
      {"count_up",
       {{8}, [](const Parameters& p, auto& f) { *value<unsigned*>(p, 0) = ++f.module->counter; }}},
      {"read_table",
       {{8}, [](const Parameters& p, auto& f) { std::memcpy(value<void*>(p, 0), f.module->table, 16); }}},
      {"leak_shared",
       {{8},
        [](const Parameters& p, auto&) {
          for (int i = 0; i < 32; ++i) value<unsigned*>(p, 0)[i] = shared_word;
        }}},
      {"leak_local",
       {{8, 4},
        [](const Parameters& p, auto&) {
          for (int i = 0; i < 32; ++i) value<unsigned*>(p, 0)[i] = local_word;
        }}},
      {"leak_register",
       {{8},
        [](const Parameters& p, auto&) {
          for (int i = 0; i < 1024; ++i) value<unsigned*>(p, 0)[i] = register_word;
        }}},
      {"trespass", {{8, 8}, [](const Parameters&, auto&) { gpu().fault = abi::kIllegalAddress; }}},
      {"expect_within",
       {{8, 4, 4, 4},
        [](const Parameters& p, auto&) {
          for (int i = 0; i < value<int>(p, 1); ++i) {
            const float one = value<float*>(p, 0)[i];
            if (!(one >= value<float>(p, 2) && one < value<float>(p, 3))) gpu().fault = abi::kIllegalAddress;
          }
        }}},
      {"forever",
       {{8},
        [](const Parameters&, auto&) {
          while (true) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }}},
      {"fetch_box",
       {{128, 8, 4, 4},
        [](const Parameters& p, auto&) {
          const auto map = value<abi::TensorMap>(p, 0);
          const auto* from = reinterpret_cast<const float*>(map.opaque[0]);
          for (std::size_t i = 0; i < 32 * 32; ++i)
            value<float*>(p, 1)[i] =
                from[(i / 32 + value<unsigned>(p, 3)) * map.opaque[1] + i % 32 + value<unsigned>(p, 2)];
        }}},
      {"kernelsmith_wipe",
       {{4, 4}, [](const Parameters& p, auto&) { shared_word = value<std::uint32_t>(p, 1); }}},
      {"kernelsmith_wipe_registers",
       {{4}, [](const Parameters& p, auto&) { register_word = value<std::uint32_t>(p, 0); }}},
      {"kernelsmith_wipe_local",
       {{4, 4}, [](const Parameters& p, auto&) { local_word = value<std::uint32_t>(p, 1); }}},
      {"kernelsmith_sweep", {{8, 8}, [](const Parameters&, auto&) {}}},
      {"kernelsmith_gate",
       {{8, 8},
        [](const Parameters& p, auto&) {
          const auto limit = Steady::now() + std::chrono::nanoseconds(value<std::uint64_t>(p, 1));
          auto& flag = *value<std::uint32_t*>(p, 0);
          while (std::atomic_ref(flag).load() == 0 && Steady::now() < limit) std::this_thread::yield();
        }}},
  };
  return all;
}

}  // namespace

CUDA_API cuGetErrorString(abi::Code code, const char** text) {
  *text = code == 700 ? "an illegal memory access was encountered" : "some error of the fake driver";
  return 0;
}
CUDA_API cuGetErrorName(abi::Code code, const char** text) {
  *text = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
  return 0;
}
CUDA_API cuInit(unsigned) { return 0; }
CUDA_API cuDriverGetVersion(int* version) { return *version = 13000, 0; }
CUDA_API cuDeviceGetCount(int* count) { return *count = 1, 0; }
CUDA_API cuDeviceGet(abi::DeviceNumber* number, int index) { return *number = index, 0; }
CUDA_API cuDeviceGetName(char* name, int length, abi::DeviceNumber) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU");
  return 0;
}
CUDA_API cuDeviceGetPCIBusId(char* name, int length, abi::DeviceNumber) {
  std::snprintf(name, static_cast<std::size_t>(length), "0000:00:00.0");
  return 0;
}
CUDA_API cuDeviceTotalMem_v2(std::size_t* bytes, abi::DeviceNumber) { return *bytes = 1 << 30, 0; }
CUDA_API cuDeviceGetAttribute(int* result, int which, abi::DeviceNumber) {
  static const std::map<int, int> all{{16, 4},      {38, 1 << 20}, {75, 9}, {76, 0},
                                      {97, 232448}, {102, 1},      {103, 1}};
  const auto found = all.find(which);
  return found == all.end() ? abi::kInvalidValue : (*result = found->second, 0);
}
CUDA_API cuCtxCreate_v2(abi::Context* context, unsigned, abi::DeviceNumber) {
  gpu();
  *context = reinterpret_cast<abi::Context>(0x1000);
  return 0;
}
CUDA_API cuCtxDestroy_v2(abi::Context) { return 0; }
CUDA_API cuCtxPushCurrent_v2(abi::Context) { return 0; }
CUDA_API cuCtxPopCurrent_v2(abi::Context*) { return 0; }
CUDA_API cuCtxSynchronize() { return gpu().wait(), gpu().fault; }
CUDA_API cuCtxResetPersistingL2Cache() { return 0; }

CUDA_API cuMemAlloc_v2(abi::Address* address, std::size_t bytes) {
  *address = reinterpret_cast<abi::Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return 0;
}
CUDA_API cuMemFree_v2(abi::Address address) { return std::free(reinterpret_cast<void*>(address)), 0; }
CUDA_API cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  return *address = std::aligned_alloc(256, (bytes + 255) / 256 * 256), 0;
}
CUDA_API cuMemFreeHost(void* address) { return std::free(address), 0; }
CUDA_API cuMemHostGetDevicePointer_v2(abi::Address* address, void* host, unsigned) {
  return *address = reinterpret_cast<abi::Address>(host), 0;
}
CUDA_API cuMemcpyHtoDAsync_v2(abi::Address to, const void* from, std::size_t bytes, abi::Stream stream) {
  return copy(reinterpret_cast<void*>(to), from, bytes, stream);
}
CUDA_API cuMemcpyDtoHAsync_v2(void* to, abi::Address from, std::size_t bytes, abi::Stream stream) {
  return copy(to, reinterpret_cast<const void*>(from), bytes, stream);
}
CUDA_API cuMemcpyDtoDAsync_v2(abi::Address to, abi::Address from, std::size_t bytes, abi::Stream stream) {
  return copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, stream);
}
CUDA_API cuMemsetD8Async(abi::Address to, unsigned char word, std::size_t count, abi::Stream stream) {
  return fill(to, word, count, stream);
}
CUDA_API cuMemsetD16Async(abi::Address to, unsigned short word, std::size_t count, abi::Stream stream) {
  return fill(to, word, count, stream);
}
CUDA_API cuMemsetD32Async(abi::Address to, unsigned word, std::size_t count, abi::Stream stream) {
  return to % 4 != 0 ? abi::kInvalidValue : fill(to, word, count, stream);
}

CUDA_API cuMemGetInfo_v2(std::size_t* left, std::size_t* all) {
  return *left = *all = std::size_t{1} << 30, 0;
}
CUDA_API cuMemGetAllocationGranularity(std::size_t* bytes, const abi::MemoryProperties*, int) {
  return *bytes = 2 << 20, 0;
}
CUDA_API cuMemCreate(abi::MemoryHandle* handle, std::size_t bytes, const abi::MemoryProperties*,
                     unsigned long long) {
  return create_memory(handle, bytes);
}
CUDA_API cuMemRelease(abi::MemoryHandle handle) { return release_memory(handle); }
CUDA_API cuMemAddressReserve(abi::Address* address, std::size_t bytes, std::size_t, abi::Address,
                             unsigned long long) {
  return reserve_addresses(address, bytes);
}
CUDA_API cuMemAddressFree(abi::Address, std::size_t) { return 0; }
CUDA_API cuMemMap(abi::Address address, std::size_t bytes, std::size_t, abi::MemoryHandle handle,
                  unsigned long long) {
  return map_memory(address, bytes, handle);
}
CUDA_API cuMemUnmap(abi::Address address, std::size_t bytes) { return unmap_memory(address, bytes); }
CUDA_API cuMemSetAccess(abi::Address address, std::size_t bytes, const abi::AccessDescription*, std::size_t) {
  return allow_access(address, bytes);
}
CUDA_API cuMemExportToShareableHandle(void* descriptor, abi::MemoryHandle handle, int, unsigned long long) {
  return export_memory(descriptor, handle);
}
CUDA_API cuMemImportFromShareableHandle(abi::MemoryHandle* handle, void* descriptor, int) {
  return import_memory(handle, descriptor);
}

CUDA_API cuStreamCreate(abi::Stream* stream, unsigned) { return *stream = new abi::StreamObject, 0; }
CUDA_API cuStreamDestroy_v2(abi::Stream stream) { return delete stream, 0; }
CUDA_API cuStreamSynchronize(abi::Stream) { return gpu().wait(), gpu().fault; }
CUDA_API cuStreamWaitEvent(abi::Stream stream, abi::Event event, unsigned) {
  return wait_event(stream, event);
}
CUDA_API cuStreamBeginCapture_v2(abi::Stream stream, int) {
  return stream->capture = new abi::GraphObject, 0;
}
CUDA_API cuStreamEndCapture(abi::Stream stream, abi::Graph* graph) { return end_capture(stream, graph); }
CUDA_API cuEventCreate(abi::Event* event, unsigned) { return *event = new abi::EventObject, 0; }
CUDA_API cuEventDestroy_v2(abi::Event event) { return delete event, 0; }
CUDA_API cuEventRecord(abi::Event event, abi::Stream stream) { return record_event(event, stream); }
CUDA_API cuEventQuery(abi::Event event) { return query_event(event); }
CUDA_API cuEventElapsedTime(float* ms, abi::Event begin, abi::Event end) {
  *ms = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return 0;
}

CUDA_API cuModuleLoadData(abi::Module* module, const void*) { return *module = new abi::ModuleObject, 0; }
CUDA_API cuModuleUnload(abi::Module module) { return delete module, 0; }
CUDA_API cuModuleGetFunction(abi::Function* function, abi::Module module, const char* name) {
  if (kernels().count(name) == 0) return 500;
  auto made = std::make_unique<abi::FunctionObject>();
  made->module = module;
  made->name = name;
  *function = module->functions.emplace_back(std::move(made)).get();
  return 0;
}
CUDA_API cuFuncGetParamInfo(abi::Function function, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  const auto& sizes = kernels().at(function->name).sizes;
  if (index >= sizes.size()) return abi::kInvalidValue;
  *offset = 0;
  for (std::size_t i = 0; i < index; ++i) *offset += sizes[i];
  *size = sizes[index];
  return 0;
}
CUDA_API cuModuleGetGlobal_v2(abi::Address* address, std::size_t* bytes, abi::Module module,
                              const char* name) {
  if (std::strcmp(name, "table") != 0) return 500;
  *address = reinterpret_cast<abi::Address>(module->table);
  *bytes = sizeof module->table;
  return 0;
}
CUDA_API cuFuncSetAttribute(abi::Function function, int attribute, int value) {
  if (attribute == abi::kMaxDynamicShared && function->name == "fetch_box" && value > 223 << 10)
    return abi::kInvalidValue;  // for its 4 KiB of static shared memory
  if (attribute == abi::kMaxDynamicShared) function->max_shared = value;
  return 0;
}
CUDA_API cuLaunchKernelEx(const abi::LaunchConfig* config, abi::Function function, void** parameters,
                          void**) {
  for (unsigned i = 0; i < config->attribute_count; ++i)
    if (config->attributes[i].id == abi::kCooperative && config->grid[0] > 1000)
      return abi::kCooperativeLaunchTooLarge;
  if (config->shared_bytes > 48 << 10 && static_cast<int>(config->shared_bytes) > function->max_shared)
    return abi::kInvalidValue;
  Parameters taken;
  const auto& sizes = kernels().at(function->name).sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(parameters[i]);
    taken.emplace_back(bytes, bytes + sizes[i]);
  }
  return add(config->stream, [function, taken] { kernels().at(function->name).run(taken, *function); });
}
CUDA_API cuTensorMapEncodeTiled(abi::TensorMap* map, int, std::uint32_t rank, void* address,
                                const std::uint64_t*, const std::uint64_t* strides, const std::uint32_t*,
                                const std::uint32_t*, int, int, int, int) {
  if (rank != 2 || strides[0] % 16 != 0) return abi::kInvalidValue;
  map->opaque[0] = reinterpret_cast<std::uint64_t>(address);
  map->opaque[1] = strides[0] / 4;
  return 0;
}

CUDA_API cuGraphCreate(abi::Graph* graph, unsigned) { return *graph = new abi::GraphObject, 0; }
CUDA_API cuGraphDestroy(abi::Graph graph) { return delete graph, 0; }
CUDA_API cuGraphAddChildGraphNode(abi::GraphNode*, abi::Graph graph, const abi::GraphNode*, std::size_t,
                                  abi::Graph child) {
  graph->tasks.insert(graph->tasks.end(), child->tasks.begin(), child->tasks.end());
  return 0;
}
CUDA_API cuGraphAddEmptyNode(abi::GraphNode*, abi::Graph, const abi::GraphNode*, std::size_t) { return 0; }
CUDA_API cuGraphInstantiateWithFlags(abi::GraphExec* exec, abi::Graph graph, unsigned long long) {
  return *exec = new abi::GraphExecObject{graph->tasks}, 0;
}
CUDA_API cuGraphExecDestroy(abi::GraphExec exec) { return delete exec, 0; }
CUDA_API cuGraphUpload(abi::GraphExec, abi::Stream) { return 0; }
CUDA_API cuGraphLaunch(abi::GraphExec exec, abi::Stream stream) { return launch_graph(exec, stream); }

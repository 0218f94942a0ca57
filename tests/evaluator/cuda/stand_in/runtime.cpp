// A vendor's runtime without a GPU, for tests: it carries out the kernels of images that mxcc.py or hipcc.py
// made, on the processor. CMakeLists.txt says which vendor's. Every function counts its calls, and fails if
// KERNELSMITH_STAND_IN_FAIL says so: "mcMalloc:2" is the second call of mcMalloc in each process,
// "mcMalloc:2-" every one from it on. The file KERNELSMITH_STAND_IN_LOG gets a line "process function" when a
// process first calls a function, and "process !function" when one fails. Events tell a clock that only work
// moves, so that times do not depend on the machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>

#include "fibers.hpp"
#include "vendors/hip/attributes.hpp"
#include "vendors/maca/attributes.hpp"

using namespace fake;
using namespace kernelsmith::cuda;

#define JOINED_(prefix, name) prefix##name
#define JOINED(prefix, name) JOINED_(prefix, name)
#define QUOTED_(text) #text
#define QUOTED(text) QUOTED_(text)
#define EXPORTED(NAME) extern "C" __attribute__((visibility("default"))) NAME

namespace {

// The runtimes' numbers, which are CUDA's.
constexpr abi::Code kInjected = abi::kUnknown, kInvalidConfiguration = 9, kInvalidImage = 200,
                    kNotFound = 500;

std::mutex counting;
std::map<std::string, int> calls;  ///< by function
std::map<std::string, int> left;   ///< objects that were not given back, by the function that does it

void log(const std::string& what) {
  const char* const path = std::getenv("KERNELSMITH_STAND_IN_LOG");
  if (path == nullptr) return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string line = std::to_string(::getpid()) + " " + what + "\n";
  if (::write(file, line.data(), line.size()) < 0) std::abort();
  ::close(file);
}

/// Whether this call is the one that has to fail.
bool must_fail(const std::string& name) {
  const char* const given = std::getenv("KERNELSMITH_STAND_IN_FAIL");
  const std::lock_guard lock(counting);
  const int call = ++calls[name];
  if (call == 1) log(name);
  const std::string wanted = given != nullptr ? given : "";
  if (!wanted.starts_with(name + ":")) return false;
  const int first = std::atoi(wanted.c_str() + name.size() + 1);
  const bool fails = call == first || (wanted.ends_with("-") && call > first);
  if (fails) log("!" + name);
  return fails;
}

/// What gives back what a function makes.
const std::map<std::string, std::string> kGivenBackBy{
    {"Malloc", "Free"},
    {"MallocHost", "FreeHost"},
    {"HostMalloc", "HostFree"},
    {"MemCreate", "MemRelease"},
    {"MemImportFromShareableHandle", "MemRelease"},
    {"MemAddressReserve", "MemAddressFree"},
    {"MemMap", "MemUnmap"},
    {"StreamCreateWithFlags", "StreamDestroy"},
    {"StreamEndCapture", "GraphDestroy"},
    {"EventCreateWithFlags", "EventDestroy"},
    {"ModuleLoadData", "ModuleUnload"},
    {"GraphCreate", "GraphDestroy"},
    {"GraphInstantiateWithFlags", "GraphExecDestroy"},
};

/// Whether it is a release. One that fails has given back all the same: nobody calls it twice.
bool gives_back(const std::string& name) {
  return std::ranges::any_of(kGivenBackBy, [&](const auto& pair) { return pair.second == name; });
}

/// Counts what a call that succeeded made or gave back.
abi::Code counted(const char* name, abi::Code code) {
  if (code != 0) return code;
  const std::lock_guard lock(counting);
  if (const auto found = kGivenBackBy.find(name); found != kGivenBackBy.end()) ++left[found->second];
  if (const auto found = left.find(name); found != left.end()) --found->second;
  return code;
}

/// Nanoseconds of the device's work until now.
std::atomic<std::uint64_t> worked{0};
Steady::time_point time_of_work() { return Steady::time_point(std::chrono::nanoseconds(worked.load())); }

}  // namespace

/// Counts of this process begin anew. For tests.
EXPORTED(void) stand_in_count_anew() {
  const std::lock_guard lock(counting);
  calls.clear();
}
/// What this process has not given back: "1 for StreamDestroy". For tests, of one thread.
EXPORTED(const char*) stand_in_left() {
  static std::string text;
  const std::lock_guard lock(counting);
  text.clear();
  for (const auto& [function, count] : left)
    if (count != 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " for " + function;
  return text.c_str();
}

/// A function of the runtime, which fails if the test wants it.
#define STAND_IN(NAME, PARAMETERS, ...)                                  \
  static abi::Code stand_in_##NAME PARAMETERS;                           \
  EXPORTED(abi::Code) JOINED(STAND_IN_PREFIX, NAME) PARAMETERS {         \
    const bool fails = must_fail(QUOTED(JOINED(STAND_IN_PREFIX, NAME))); \
    if (fails && !gives_back(#NAME)) return kInjected;                   \
    const abi::Code code = counted(#NAME, stand_in_##NAME(__VA_ARGS__)); \
    return fails ? kInjected : code;                                     \
  }                                                                      \
  static abi::Code stand_in_##NAME PARAMETERS

namespace {

Place place;
Block block;

const Services services{[] { block.wait(Block::State::at_block); }, [] { block.wait(Block::State::at_wave); },
                        [](const void* mine, void* theirs, unsigned bytes, unsigned from) {
                          block.exchange(mine, theirs, bytes, from);
                        },
                        &place};

/// A launch, carried out when its turn comes.
struct Work {
  const KernelEntry* kernel;
  Size grid, threads;
  unsigned shared;
  std::vector<std::vector<std::byte>> arguments;

  void operator()() const {
    std::vector<void*> pointers;
    for (const auto& argument : arguments) pointers.push_back(const_cast<std::byte*>(argument.data()));
    std::vector<std::byte> dynamic_shared(shared + 16);
    place.grid = grid;
    place.block = threads;
    place.dynamic_shared = dynamic_shared.data();
    for (place.at.z = 0; place.at.z < grid.z; ++place.at.z)
      for (place.at.y = 0; place.at.y < grid.y; ++place.at.y)
        for (place.at.x = 0; place.at.x < grid.x && gpu().fault == 0; ++place.at.x)
          block.run(*kernel, place, pointers.data());
    constexpr std::uint64_t kLaunchNs = 200'000;  // so much that a judge is content with few calls
    worked += kLaunchNs + std::uint64_t{grid.x} * grid.y * grid.z * threads.x * threads.y * threads.z;
  }
};

abi::Code moved(void* to, const void* from, std::size_t bytes, abi::Stream stream) {
  // What measures the bandwidth is timed, and not done.
  const bool measured = bytes >= std::size_t{512} << 20;
  return add(stream, [=] {
    if (!measured) std::memcpy(to, from, bytes);
    worked += 100 + bytes / 1000;
  });
}

template <class T>
abi::Code filled(abi::Address to, T word, std::size_t count, abi::Stream stream) {
  return add(stream, [=] {
    std::fill_n(reinterpret_cast<T*>(to), count, word);
    worked += 100 + sizeof(T) * count / 1000;
  });
}

abi::Code allocate_host(void** address, std::size_t bytes) {
  *address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *address != nullptr ? 0 : abi::kOutOfMemory;
}

abi::Code free_host(void* address) {
  gpu().wait();
  std::free(address);
  return 0;
}

std::map<void*, std::size_t> allocations;  ///< of device memory

/// What stands for device code in an image: the section that images.py added.
std::string library_in(const unsigned char* image) {
  std::uint64_t sections = 0;
  std::uint16_t count = 0, names = 0;
  std::memcpy(&sections, image + 40, 8);
  std::memcpy(&count, image + 60, 2);
  std::memcpy(&names, image + 62, 2);
  const auto field = [&](unsigned section, unsigned at, auto& value) {
    std::memcpy(&value, image + sections + 64 * section + at, sizeof value);
  };
  std::uint64_t texts = 0;
  field(names, 24, texts);
  for (unsigned i = 0; i < count; ++i) {
    std::uint32_t name = 0;
    std::uint64_t offset = 0, size = 0;
    field(i, 0, name);
    field(i, 24, offset);
    field(i, 32, size);
    if (std::strcmp(reinterpret_cast<const char*>(image + texts + name), ".stand_in") == 0)
      return {reinterpret_cast<const char*>(image + offset), size};
  }
  return {};
}

}  // namespace

namespace kernelsmith::cuda::abi {
struct FunctionObject {
  const KernelEntry* entry = nullptr;
};
struct ModuleObject {
  void* library = nullptr;
  std::deque<FunctionObject> functions;  ///< those that were asked for
  int file = -1;  ///< open for as long as it is loaded: the loader knows libraries by their path, which is
                  ///< its number
};
}  // namespace kernelsmith::cuda::abi

EXPORTED(const char*) JOINED(STAND_IN_PREFIX, GetErrorString)(abi::Code code) {
  return code == kInjected ? "a failure that the test asked for" : "an error of the stand-in";
}
EXPORTED(const char*) JOINED(STAND_IN_PREFIX, GetErrorName)(abi::Code code) {
  return code == kInjected ? QUOTED(JOINED(STAND_IN_PREFIX, ErrorUnknown))
                           : QUOTED(JOINED(STAND_IN_PREFIX, ErrorStandIn));
}
STAND_IN(Init, (unsigned), 0) {
  device_time = time_of_work;
  return 0;
}
STAND_IN(DriverGetVersion, (int* version), version) { return *version = STAND_IN_VERSION, 0; }
STAND_IN(GetDeviceCount, (int* count), count) { return *count = 1, 0; }
STAND_IN(DeviceGet, (abi::DeviceNumber * number, int index), number, index) { return *number = index, 0; }
STAND_IN(SetDevice, (int device), device) {
  gpu();
  return device == 0 ? 0 : abi::kInvalidValue;
}
STAND_IN(DeviceGetName, (char* name, int length, abi::DeviceNumber device), name, length, device) {
  std::snprintf(name, static_cast<std::size_t>(length), STAND_IN_NAME);
  return device;
}
STAND_IN(DeviceGetPCIBusId, (char* name, int length, abi::DeviceNumber device), name, length, device) {
  std::snprintf(name, static_cast<std::size_t>(length), "0000:00:00.0");
  return device;
}
STAND_IN(DeviceTotalMem, (std::size_t * bytes, abi::DeviceNumber device), bytes, device) {
  return *bytes = std::size_t{8} << 30, device;
}
STAND_IN(DeviceGetAttribute, (int* result, int which, abi::DeviceNumber device), result, which, device) {
  // As CUDA counts them: threads, shared memory, lanes, multiprocessors, L2, compute capability, shared
  // memory, and what memory may be shared by.
  static const std::map<int, int> all{
      {1, 1024}, {8, 65536},  {10, 64}, {16, 1}, {38, 1 << 16}, {75, STAND_IN_MAJOR},
      {76, 0},   {97, 65536}, {102, 1}, {103, 1}};
  for (const auto& [ours, theirs] : STAND_IN_ATTRIBUTES)
    if (const auto found = all.find(ours); theirs == which && found != all.end())
      return *result = found->second, device;
  return abi::kInvalidValue;
}
STAND_IN(DeviceSynchronize, (), ) { return gpu().wait(), gpu().fault; }

STAND_IN(MemGetInfo, (std::size_t * left, std::size_t* all), left, all) {
  return *left = *all = std::size_t{8} << 30, 0;
}
STAND_IN(Malloc, (void** address, std::size_t bytes), address, bytes) {
  // Nothing is behind what only measures the bandwidth.
  *address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (*address == MAP_FAILED) return abi::kOutOfMemory;
  const std::lock_guard lock(counting);
  allocations[*address] = bytes;
  return 0;
}
// As the real ones do, these wait for what uses the memory.
STAND_IN(Free, (void* address), address) {
  gpu().wait();
  const std::lock_guard lock(counting);
  const auto found = allocations.find(address);
  if (found == allocations.end()) return abi::kInvalidValue;
  ::munmap(address, found->second);
  allocations.erase(found);
  return 0;
}
// Each vendor has its own order of the words.
STAND_IN(MallocHost, (void** address, std::size_t bytes, unsigned), address, bytes, 0) {
  return allocate_host(address, bytes);
}
STAND_IN(HostMalloc, (void** address, std::size_t bytes, unsigned), address, bytes, 0) {
  return allocate_host(address, bytes);
}
STAND_IN(FreeHost, (void* address), address) { return free_host(address); }
STAND_IN(HostFree, (void* address), address) { return free_host(address); }
STAND_IN(HostGetDevicePointer, (void** address, void* host, unsigned), address, host, 0) {
  return *address = host, 0;
}
STAND_IN(MemcpyAsync, (void* to, const void* from, std::size_t bytes, int, abi::Stream stream), to, from,
         bytes, 0, stream) {
  return moved(to, from, bytes, stream);
}
STAND_IN(MemsetD8Async, (abi::Address to, unsigned char word, std::size_t count, abi::Stream stream), to,
         word, count, stream) {
  return filled(to, word, count, stream);
}
STAND_IN(MemsetD16Async, (abi::Address to, unsigned short word, std::size_t count, abi::Stream stream), to,
         word, count, stream) {
  return filled(to, word, count, stream);
}
STAND_IN(MemsetD32Async, (abi::Address to, unsigned word, std::size_t count, abi::Stream stream), to, word,
         count, stream) {
  return to % 4 != 0 ? abi::kInvalidValue : filled(to, word, count, stream);
}

STAND_IN(MemGetAllocationGranularity, (std::size_t * bytes, const abi::MemoryProperties*, int), bytes,
         nullptr, 0) {
  return *bytes = 2 << 20, 0;
}
STAND_IN(MemCreate,
         (abi::MemoryHandle * handle, std::size_t bytes, const abi::MemoryProperties*, unsigned long long),
         handle, bytes, nullptr, 0) {
  return create_memory(handle, bytes);
}
STAND_IN(MemRelease, (abi::MemoryHandle handle), handle) { return release_memory(handle); }
STAND_IN(MemAddressReserve,
         (abi::Address * address, std::size_t bytes, std::size_t, abi::Address, unsigned long long), address,
         bytes, 0, 0, 0) {
  return reserve_addresses(address, bytes);
}
STAND_IN(MemAddressFree, (abi::Address, std::size_t), 0, 0) { return 0; }
STAND_IN(MemMap,
         (abi::Address address, std::size_t bytes, std::size_t, abi::MemoryHandle handle, unsigned long long),
         address, bytes, 0, handle, 0) {
  return map_memory(address, bytes, handle);
}
STAND_IN(MemUnmap, (abi::Address address, std::size_t bytes), address, bytes) {
  gpu().wait();
  return unmap_memory(address, bytes);
}
STAND_IN(MemSetAccess, (abi::Address address, std::size_t bytes, const abi::AccessDescription*, std::size_t),
         address, bytes, nullptr, 0) {
  return allow_access(address, bytes);
}
STAND_IN(MemExportToShareableHandle, (void* descriptor, abi::MemoryHandle handle, int, unsigned long long),
         descriptor, handle, 0, 0) {
  return export_memory(descriptor, handle);
}
STAND_IN(MemImportFromShareableHandle, (abi::MemoryHandle * handle, void* descriptor, int), handle,
         descriptor, 0) {
  return import_memory(handle, descriptor);
}

STAND_IN(StreamCreateWithFlags, (abi::Stream * stream, unsigned), stream, 0) {
  return *stream = new abi::StreamObject, 0;
}
STAND_IN(StreamDestroy, (abi::Stream stream), stream) { return delete stream, 0; }
STAND_IN(StreamSynchronize, (abi::Stream), nullptr) { return gpu().wait(), gpu().fault; }
STAND_IN(StreamWaitEvent, (abi::Stream stream, abi::Event event, unsigned), stream, event, 0) {
  return wait_event(stream, event);
}
STAND_IN(StreamBeginCapture, (abi::Stream stream, int), stream, 0) {
  return stream->capture = new abi::GraphObject, 0;
}
STAND_IN(StreamEndCapture, (abi::Stream stream, abi::Graph* graph), stream, graph) {
  return end_capture(stream, graph);
}
STAND_IN(EventCreateWithFlags, (abi::Event * event, unsigned), event, 0) {
  return *event = new abi::EventObject, 0;
}
STAND_IN(EventDestroy, (abi::Event event), event) {
  gpu().wait();  // it may be recorded still
  return delete event, 0;
}
STAND_IN(EventRecord, (abi::Event event, abi::Stream stream), event, stream) {
  return record_event(event, stream);
}
STAND_IN(EventQuery, (abi::Event event), event) { return query_event(event); }
STAND_IN(EventElapsedTime, (float* ms, abi::Event begin, abi::Event end), ms, begin, end) {
  *ms = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return 0;
}

STAND_IN(ModuleLoadData, (abi::Module * module, const void* image), module, image) {
  const std::string library = library_in(static_cast<const unsigned char*>(image));
  const int file = ::memfd_create("image", MFD_CLOEXEC);
  if (library.empty() || file < 0 ||
      ::write(file, library.data(), library.size()) != static_cast<ssize_t>(library.size()))
    return kInvalidImage;
  auto made = std::make_unique<abi::ModuleObject>();
  made->library = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_LAZY | RTLD_LOCAL);
  made->file = file;
  if (made->library == nullptr) return kInvalidImage;
  reinterpret_cast<void (*)(const Services*)>(::dlsym(made->library, "stand_in_serve"))(&services);
  *module = made.release();
  return 0;
}
STAND_IN(ModuleUnload, (abi::Module module), module) {
  gpu().wait();
  ::dlclose(module->library);
  ::close(module->file);
  delete module;
  return 0;
}
STAND_IN(ModuleGetFunction, (abi::Function * function, abi::Module module, const char* name), function,
         module, name) {
  const auto first = reinterpret_cast<const KernelEntry* (*)()>(::dlsym(module->library, "stand_in_kernels"));
  for (const KernelEntry* at = first(); at != nullptr; at = at->next)
    if (std::strcmp(at->name, name) == 0)
      return *function = &module->functions.emplace_back(abi::FunctionObject{at}), 0;
  return kNotFound;
}
STAND_IN(ModuleGetGlobal, (abi::Address*, std::size_t*, abi::Module, const char*), nullptr, nullptr, nullptr,
         nullptr) {
  return kNotFound;
}
STAND_IN(ModuleLaunchKernel,
         (abi::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
          unsigned bz, unsigned shared, abi::Stream stream, void** parameters, void**),
         function, gx, gy, gz, bx, by, bz, shared, stream, parameters, nullptr) {
  if (bx * by * bz > 1024 || shared > 65536) return kInvalidConfiguration;
  Work work{function->entry, {gx, gy, gz}, {bx, by, bz}, shared, {}};
  for (unsigned i = 0; i < function->entry->count; ++i) {
    const auto* const bytes = static_cast<const std::byte*>(parameters[i]);
    work.arguments.emplace_back(bytes, bytes + function->entry->sizes[i]);
  }
  return add(stream, std::move(work));
}
STAND_IN(ModuleLaunchKernelEx,
         (const abi::LaunchConfig* config, abi::Function function, void** parameters, void**), config,
         function, parameters, nullptr) {
  return stand_in_ModuleLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2],
                                     config->block[0], config->block[1], config->block[2],
                                     config->shared_bytes, config->stream, parameters, nullptr);
}

STAND_IN(ModuleLaunchCooperativeKernel,
         (abi::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
          unsigned bz, unsigned shared, abi::Stream stream, void** parameters),
         function, gx, gy, gz, bx, by, bz, shared, stream, parameters) {
  return stand_in_ModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, nullptr);
}

STAND_IN(GraphCreate, (abi::Graph * graph, unsigned), graph, 0) { return *graph = new abi::GraphObject, 0; }
STAND_IN(GraphDestroy, (abi::Graph graph), graph) { return delete graph, 0; }
STAND_IN(GraphAddChildGraphNode,
         (abi::GraphNode*, abi::Graph graph, const abi::GraphNode*, std::size_t, abi::Graph child), nullptr,
         graph, nullptr, 0, child) {
  graph->tasks.insert(graph->tasks.end(), child->tasks.begin(), child->tasks.end());
  return 0;
}
STAND_IN(GraphAddEmptyNode, (abi::GraphNode*, abi::Graph, const abi::GraphNode*, std::size_t), nullptr,
         nullptr, nullptr, 0) {
  return 0;
}
STAND_IN(GraphInstantiateWithFlags, (abi::GraphExec * exec, abi::Graph graph, unsigned long long), exec,
         graph, 0) {
  return *exec = new abi::GraphExecObject{graph->tasks}, 0;
}
STAND_IN(GraphExecDestroy, (abi::GraphExec exec), exec) { return delete exec, 0; }
STAND_IN(GraphUpload, (abi::GraphExec, abi::Stream), nullptr, nullptr) { return 0; }
STAND_IN(GraphLaunch, (abi::GraphExec exec, abi::Stream stream), exec, stream) {
  return launch_graph(exec, stream);
}

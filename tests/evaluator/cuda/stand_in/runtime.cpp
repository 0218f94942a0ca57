// A libmcruntime.so without a GPU, for tests: it carries out the kernels of images that mxcc.py made, on the
// processor. Every function counts its calls, and fails if KERNELSMITH_STAND_IN_FAIL says so: "mcMalloc:2" is
// the second call of mcMalloc in each process. Events tell a clock that only work moves, so that times do not
// depend on the machine.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <dlfcn.h>

#include "../fake_gpu_core.hpp"

using namespace fake;

namespace {

constexpr abi::Code kInjected = 999;  // mcErrorUnknown

std::mutex counting;
std::map<std::string, int> calls;  ///< by function

/// Whether this call is the one that has to fail.
bool must_fail(const char* name) {
  const char* const given = std::getenv("KERNELSMITH_STAND_IN_FAIL");
  const std::lock_guard lock(counting);
  const int call = ++calls[name];
  return given != nullptr && given == std::string(name) + ":" + std::to_string(call);
}

/// Nanoseconds of the device's work until now.
std::atomic<std::uint64_t> worked{0};
Steady::time_point time_of_work() { return Steady::time_point(std::chrono::nanoseconds(worked.load())); }

}  // namespace

/// Counts of this process begin anew. For tests.
extern "C" __attribute__((visibility("default"))) void stand_in_count_anew() {
  const std::lock_guard lock(counting);
  calls.clear();
}

/// A function of the runtime, which fails if the test wants it.
#define MC(NAME, PARAMETERS, ...)                                               \
  static abi::Code stand_in_##NAME PARAMETERS;                                  \
  extern "C" __attribute__((visibility("default"))) abi::Code NAME PARAMETERS { \
    if (must_fail(#NAME)) return kInjected;                                     \
    return stand_in_##NAME(__VA_ARGS__);                                        \
  }                                                                             \
  static abi::Code stand_in_##NAME PARAMETERS

namespace {

// As include/mcr/mc_runtime.h declares them.
struct Size {
  unsigned x = 1, y = 1, z = 1;
};
struct Place {
  Size grid, block, at, thread;
  void* dynamic_shared = nullptr;
  unsigned lane_word = 0;
};
struct Services {
  void (*wait_block)() = nullptr;
  void (*wait_wave)() = nullptr;
  void (*exchange)(const void* mine, void* theirs, unsigned bytes, unsigned from) = nullptr;
  Place* place = nullptr;
};
struct KernelEntry {
  const char* name;
  const void* host;
  void (*run)(void** arguments);
  unsigned count;
  const unsigned *offsets, *sizes;
  KernelEntry* next;
};

}  // namespace

/// Saves what a function has to keep, leaves the stack's place in *from, and goes on where `to` was left.
extern "C" void stand_in_switch(void** from, void* to);
asm(R"(
.text
.type stand_in_switch, @function
stand_in_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

namespace {

/// The threads of one block, as fibers of the thread that carries out the device's work.
class Block {
 public:
  enum class State { ready, at_block, at_wave, done };

  void run(const KernelEntry& kernel, Place& place, void** arguments) {
    kernel_ = &kernel;
    place_ = &place;
    arguments_ = arguments;
    const std::size_t count = std::size_t{place.block.x} * place.block.y * place.block.z;
    while (fibers_.size() < count) fibers_.push_back(std::make_unique<Fiber>());
    for (std::size_t i = 0; i < count; ++i) begin(*fibers_[i], i);
    std::size_t left = count;
    while (left > 0) {
      bool moved = false;
      for (std::size_t i = 0; i < count; ++i) {
        if (fibers_[i]->state != State::ready) continue;
        moved = true;
        resume(*fibers_[i]);
        if (fibers_[i]->state == State::done) --left;
      }
      if (!moved && !release(count)) {
        gpu().fault = abi::kLaunchFailed;  // barriers that not all reach
        return;
      }
    }
  }

  void wait(State state) {
    Fiber& mine = *current_;
    mine.state = state;
    stand_in_switch(&mine.place, main_);
  }

  void exchange(const void* mine, void* theirs, unsigned bytes, unsigned from) {
    std::memcpy(current_->given, mine, bytes);
    wait(State::at_wave);
    const std::size_t first = current_->index / kLanes * kLanes;
    const std::size_t other = first + from < count_of_block() ? first + from : current_->index;
    std::memcpy(theirs, fibers_[other]->given, bytes);
    wait(State::at_wave);  // nobody gives the next before all have taken this
  }

 private:
  static constexpr std::size_t kLanes = 64, kStack = 128 << 10;
  struct Fiber {
    void* place = nullptr;  ///< of its stack, while it waits
    std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStack);
    State state = State::done;
    std::size_t index = 0;
    char given[16] = {};
  };

  std::size_t count_of_block() const {
    return std::size_t{place_->block.x} * place_->block.y * place_->block.z;
  }

  void begin(Fiber& fiber, std::size_t index) {
    // As stand_in_switch leaves a stack: six registers, and where to go on.
    auto* top = reinterpret_cast<std::uintptr_t*>(
        (reinterpret_cast<std::uintptr_t>(fiber.stack.get()) + kStack) / 16 * 16);
    *--top = 0;  // enter() finds the stack as behind a call
    *--top = reinterpret_cast<std::uintptr_t>(&enter);
    for (int i = 0; i < 6; ++i) *--top = 0;
    fiber.place = top;
    fiber.index = index;
    fiber.state = State::ready;
    running() = this;
  }
  void resume(Fiber& fiber) {
    current_ = &fiber;
    place_->thread = {static_cast<unsigned>(fiber.index % place_->block.x),
                      static_cast<unsigned>(fiber.index / place_->block.x % place_->block.y),
                      static_cast<unsigned>(fiber.index / place_->block.x / place_->block.y)};
    stand_in_switch(&main_, fiber.place);
  }
  static Block*& running() {
    static Block* block = nullptr;
    return block;
  }
  static void enter() {
    Block& block = *running();
    block.kernel_->run(block.arguments_);
    block.wait(State::done);
  }
  /// Lets go whoever waits for nobody any more.
  bool release(std::size_t count) {
    bool any = false;
    for (std::size_t first = 0; first < count; first += kLanes) {
      const std::size_t end = std::min(first + kLanes, count);
      if (all(first, end, State::at_wave)) any |= let_go(first, end);
    }
    return any || (all(0, count, State::at_block) && let_go(0, count));
  }
  bool all(std::size_t first, std::size_t end, State state) const {
    bool some = false;
    for (std::size_t i = first; i < end; ++i) {
      if (fibers_[i]->state == State::done) continue;
      if (fibers_[i]->state != state) return false;
      some = true;
    }
    return some;
  }
  bool let_go(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      if (fibers_[i]->state != State::done) fibers_[i]->state = State::ready;
    return true;
  }

  const KernelEntry* kernel_ = nullptr;
  Place* place_ = nullptr;
  void** arguments_ = nullptr;
  Fiber* current_ = nullptr;
  void* main_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

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

void* allocated(std::size_t bytes) { return std::aligned_alloc(256, (bytes + 255) / 256 * 256); }

/// What stands for device code in an image: the section that mxcc.py wrote behind the note.
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
struct ModuleObject {
  void* library = nullptr;
  int file = -1;  ///< open for as long as it is loaded: the loader knows libraries by their path, which is
                  ///< its number
};
struct FunctionObject {
  const KernelEntry* entry = nullptr;
};
}  // namespace kernelsmith::cuda::abi

extern "C" __attribute__((visibility("default"))) const char* mcGetErrorString(abi::Code code) {
  return code == kInjected ? "a failure that the test asked for" : "an error of the stand-in";
}
extern "C" __attribute__((visibility("default"))) const char* mcGetErrorName(abi::Code code) {
  return code == kInjected ? "mcErrorUnknown" : "mcErrorStandIn";
}
MC(mcInit, (unsigned), 0) {
  device_time = time_of_work;
  return 0;
}
MC(mcDriverGetVersion, (int* version), version) { return *version = 3053, 0; }
MC(mcGetDeviceCount, (int* count), count) { return *count = 1, 0; }
MC(mcDeviceGet, (abi::DeviceNumber * number, int index), number, index) { return *number = index, 0; }
MC(mcSetDevice, (int device), device) {
  gpu();
  return device == 0 ? 0 : abi::kInvalidValue;
}
MC(mcDeviceGetName, (char* name, int length, abi::DeviceNumber device), name, length, device) {
  std::snprintf(name, static_cast<std::size_t>(length), "MetaX stand-in");
  return device;
}
MC(mcDeviceGetPCIBusId, (char* name, int length, abi::DeviceNumber device), name, length, device) {
  std::snprintf(name, static_cast<std::size_t>(length), "0000:00:00.0");
  return device;
}
MC(mcDeviceTotalMem, (std::size_t * bytes, abi::DeviceNumber device), bytes, device) {
  return *bytes = std::size_t{8} << 30, device;
}
MC(mcDeviceGetAttribute, (int* result, int which, abi::DeviceNumber device), result, which, device) {
  // mcDeviceAttribute_t: threads, shared memory, wave, multiprocessors, L2, compute capability, shared
  // memory.
  static const std::map<int, int> all{{0, 1024}, {7, 65536}, {9, 64}, {16, 1}, {18, 1 << 16},
                                      {21, 10},  {22, 0},    {55, 1}, {56, 1}};
  const auto found = all.find(which);
  return found == all.end() ? abi::kInvalidValue : (*result = found->second, device);
}
MC(mcDeviceSynchronize, (), ) { return gpu().wait(), gpu().fault; }

MC(mcMemGetInfo, (std::size_t * left, std::size_t* all), left, all) {
  return *left = *all = std::size_t{8} << 30, 0;
}
MC(mcMalloc, (void** address, std::size_t bytes), address, bytes) {
  // Nothing is behind what only measures the bandwidth.
  *address = ::mmap(nullptr, bytes + 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return *address == MAP_FAILED ? abi::kOutOfMemory : 0;
}
MC(mcFree, (void*), nullptr) { return 0; }
MC(mcMallocHost, (void** address, std::size_t bytes, unsigned), address, bytes, 0) {
  return *address = allocated(bytes), 0;
}
// As the real ones do, these wait for what uses the memory.
MC(mcFreeHost, (void* address), address) {
  gpu().wait();
  return std::free(address), 0;
}
MC(mcHostGetDevicePointer, (void** address, void* host, unsigned), address, host, 0) {
  return *address = host, 0;
}
MC(mcMemcpyAsync, (void* to, const void* from, std::size_t bytes, int, abi::Stream stream), to, from, bytes,
   0, stream) {
  return moved(to, from, bytes, stream);
}
MC(mcMemsetD8Async, (abi::Address to, unsigned char word, std::size_t count, abi::Stream stream), to, word,
   count, stream) {
  return filled(to, word, count, stream);
}
MC(mcMemsetD16Async, (abi::Address to, unsigned short word, std::size_t count, abi::Stream stream), to, word,
   count, stream) {
  return filled(to, word, count, stream);
}
MC(mcMemsetD32Async, (abi::Address to, unsigned word, std::size_t count, abi::Stream stream), to, word, count,
   stream) {
  return to % 4 != 0 ? abi::kInvalidValue : filled(to, word, count, stream);
}

MC(mcMemGetAllocationGranularity, (std::size_t * bytes, const abi::MemoryProperties*, int), bytes, nullptr,
   0) {
  return *bytes = 2 << 20, 0;
}
MC(mcMemCreate,
   (abi::MemoryHandle * handle, std::size_t bytes, const abi::MemoryProperties*, unsigned long long), handle,
   bytes, nullptr, 0) {
  return create_memory(handle, bytes);
}
MC(mcMemRelease, (abi::MemoryHandle handle), handle) { return release_memory(handle); }
MC(mcMemAddressReserve,
   (abi::Address * address, std::size_t bytes, std::size_t, abi::Address, unsigned long long), address, bytes,
   0, 0, 0) {
  return reserve_addresses(address, bytes);
}
MC(mcMemAddressFree, (abi::Address, std::size_t), 0, 0) { return 0; }
MC(mcMemMap,
   (abi::Address address, std::size_t bytes, std::size_t, abi::MemoryHandle handle, unsigned long long),
   address, bytes, 0, handle, 0) {
  return map_memory(address, bytes, handle);
}
MC(mcMemUnmap, (abi::Address address, std::size_t bytes), address, bytes) {
  gpu().wait();
  return unmap_memory(address, bytes);
}
MC(mcMemSetAccess, (abi::Address address, std::size_t bytes, const abi::AccessDescription*, std::size_t),
   address, bytes, nullptr, 0) {
  return allow_access(address, bytes);
}
MC(mcMemExportToShareableHandle, (void* descriptor, abi::MemoryHandle handle, int, unsigned long long),
   descriptor, handle, 0, 0) {
  return export_memory(descriptor, handle);
}
MC(mcMemImportFromShareableHandle, (abi::MemoryHandle * handle, void* descriptor, int), handle, descriptor,
   0) {
  return import_memory(handle, descriptor);
}

MC(mcStreamCreateWithFlags, (abi::Stream * stream, unsigned), stream, 0) {
  return *stream = new abi::StreamObject, 0;
}
MC(mcStreamDestroy, (abi::Stream stream), stream) { return delete stream, 0; }
MC(mcStreamSynchronize, (abi::Stream), nullptr) { return gpu().wait(), gpu().fault; }
MC(mcStreamWaitEvent, (abi::Stream stream, abi::Event event, unsigned), stream, event, 0) {
  return wait_event(stream, event);
}
MC(mcStreamBeginCapture, (abi::Stream stream, int), stream, 0) {
  return stream->capture = new abi::GraphObject, 0;
}
MC(mcStreamEndCapture, (abi::Stream stream, abi::Graph* graph), stream, graph) {
  return end_capture(stream, graph);
}
MC(mcEventCreateWithFlags, (abi::Event * event, unsigned), event, 0) {
  return *event = new abi::EventObject, 0;
}
MC(mcEventDestroy, (abi::Event event), event) { return delete event, 0; }
MC(mcEventRecord, (abi::Event event, abi::Stream stream), event, stream) {
  return record_event(event, stream);
}
MC(mcEventQuery, (abi::Event event), event) { return query_event(event); }
MC(mcEventElapsedTime, (float* ms, abi::Event begin, abi::Event end), ms, begin, end) {
  *ms = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return 0;
}

MC(mcModuleLoadData, (abi::Module * module, const void* image), module, image) {
  const std::string library = library_in(static_cast<const unsigned char*>(image));
  const int file = ::memfd_create("image", MFD_CLOEXEC);
  if (library.empty() || file < 0 ||
      ::write(file, library.data(), library.size()) != static_cast<ssize_t>(library.size()))
    return 200;  // mcErrorInvalidKernelImage
  auto made = std::make_unique<abi::ModuleObject>();
  made->library = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_LAZY | RTLD_LOCAL);
  made->file = file;
  if (made->library == nullptr) return 200;
  reinterpret_cast<void (*)(const Services*)>(::dlsym(made->library, "stand_in_serve"))(&services);
  *module = made.release();
  return 0;
}
MC(mcModuleUnload, (abi::Module module), module) {
  ::dlclose(module->library);
  ::close(module->file);
  delete module;
  return 0;
}
MC(mcModuleGetFunction, (abi::Function * function, abi::Module module, const char* name), function, module,
   name) {
  const auto first = reinterpret_cast<const KernelEntry* (*)()>(::dlsym(module->library, "stand_in_kernels"));
  for (const KernelEntry* at = first(); at != nullptr; at = at->next)
    if (std::strcmp(at->name, name) == 0) return *function = new abi::FunctionObject{at}, 0;
  return 500;  // mcErrorSymbolNotFound
}
MC(mcModuleGetGlobal, (abi::Address*, std::size_t*, abi::Module, const char*), nullptr, nullptr, nullptr,
   nullptr) {
  return 500;
}
MC(mcModuleLaunchKernel,
   (abi::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, abi::Stream stream, void** parameters, void**),
   function, gx, gy, gz, bx, by, bz, shared, stream, parameters, nullptr) {
  if (bx * by * bz > 1024 || shared > 65536) return 32;  // mcErrorMemoryValueTooLarge
  Work work{function->entry, {gx, gy, gz}, {bx, by, bz}, shared, {}};
  for (unsigned i = 0; i < function->entry->count; ++i) {
    const auto* const bytes = static_cast<const std::byte*>(parameters[i]);
    work.arguments.emplace_back(bytes, bytes + function->entry->sizes[i]);
  }
  return add(stream, std::move(work));
}
MC(mcModuleLaunchKernelEx,
   (const abi::LaunchConfig* config, abi::Function function, void** parameters, void**), config, function,
   parameters, nullptr) {
  return stand_in_mcModuleLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2],
                                       config->block[0], config->block[1], config->block[2],
                                       config->shared_bytes, config->stream, parameters, nullptr);
}

MC(mcGraphCreate, (abi::Graph * graph, unsigned), graph, 0) { return *graph = new abi::GraphObject, 0; }
MC(mcGraphDestroy, (abi::Graph graph), graph) { return delete graph, 0; }
MC(mcGraphAddChildGraphNode,
   (abi::GraphNode*, abi::Graph graph, const abi::GraphNode*, std::size_t, abi::Graph child), nullptr, graph,
   nullptr, 0, child) {
  graph->tasks.insert(graph->tasks.end(), child->tasks.begin(), child->tasks.end());
  return 0;
}
MC(mcGraphAddEmptyNode, (abi::GraphNode*, abi::Graph, const abi::GraphNode*, std::size_t), nullptr, nullptr,
   nullptr, 0) {
  return 0;
}
MC(mcGraphInstantiateWithFlags, (abi::GraphExec * exec, abi::Graph graph, unsigned long long), exec, graph,
   0) {
  return *exec = new abi::GraphExecObject{graph->tasks}, 0;
}
MC(mcGraphExecDestroy, (abi::GraphExec exec), exec) { return delete exec, 0; }
MC(mcGraphUpload, (abi::GraphExec, abi::Stream), nullptr, nullptr) { return 0; }
MC(mcGraphLaunch, (abi::GraphExec exec, abi::Stream stream), exec, stream) {
  return launch_graph(exec, stream);
}

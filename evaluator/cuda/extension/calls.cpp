// Functions that Python calls to start, to load libraries and their modules, and to call extensions.
#include <exception>
#include <string>
#include <vector>

#include "host_reads.hpp"
#include "planner/planner.hpp"
#include "python_ledger.hpp"
#include "python_side.hpp"
#include "stand_in/cuda.hpp"
#include "vendors/nvidia/cubin.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::extension {
namespace {

using cuda::planner::recorder;

struct Function {
  void* function;
  Thunk thunk;
};

/// cudaDeviceAttr
constexpr int kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76, kSharedPerMultiprocessor = 81,
              kSharedOptin = 97;

PythonSide python_side;
std::string error;
std::vector<Function> functions;

/// Returns 0 on success, 1 with the text of an exception, or 2 after a read of device memory.
template <class Act>
int guarded(const Act& act) {
  HostReads reads;
  if (sigsetjmp(reads.jump, 1) != 0) {
    error = std::to_string(reads.address);
    return 2;
  }
  try {
    act();
    return 0;
  } catch (const std::exception& thrown) {
    error = thrown.what();
  } catch (...) {
    error = "an exception whose type is not a std::exception";
  }
  return 1;
}

std::string words_of(const std::variant<plan::Call, std::string>& ended) {
  const auto* const refusal = std::get_if<std::string>(&ended);
  return refusal == nullptr ? "" : *refusal;
}

}  // namespace

const PythonSide& python() { return python_side; }
const char* error_text() { return error.c_str(); }

}  // namespace kernelsmith::extension

using namespace kernelsmith;
using namespace kernelsmith::extension;

extern "C" {

/// The device's figures, in the order of device.py.
struct DeviceFigures {
  int arch, multiprocessors, shared, l2;
  std::uint64_t memory;
  const char* name;
};

void kernelsmith_extension_start(const PythonSide* side, const DeviceFigures* figures) {
  static PythonLedger ledger;
  python_side = *side;
  cuda::planner::StartMessage message;
  message.device = cuda::h100();
  message.device.name = figures->name;
  message.device.arch = static_cast<std::uint32_t>(figures->arch);
  message.device.memory_bytes = figures->memory;
  auto& attributes = message.device.attributes;
  attributes[kMultiprocessors] = figures->multiprocessors;
  attributes[kL2Bytes] = figures->l2;
  attributes[kMajor] = figures->arch / 10;
  attributes[kMinor] = figures->arch % 10;
  attributes[kSharedOptin] = figures->shared;
  attributes[kSharedPerMultiprocessor] = figures->shared + 1024;
  recorder().start(std::move(message));
  recorder().keep_in(ledger);
  catch_host_reads();
}

/// The sizes of Value, Facts, Operation and PythonSide.
extern const std::size_t kernelsmith_extension_sizes[4];
const std::size_t kernelsmith_extension_sizes[4] = {sizeof(Value), sizeof(Facts), sizeof(Operation),
                                                    sizeof(PythonSide)};

/// A kernel's name in the source.
const char* kernelsmith_extension_readable(const char* mangled) {
  static std::string readable;
  readable = plan::readable_name(mangled);
  return readable.c_str();
}

void kernelsmith_extension_error(const char* text) { error = text; }
const char* kernelsmith_extension_error_text() { return error_text(); }

void kernelsmith_extension_begin_library() { recorder().begin_library(); }

/// False, with a message, if the bytes are not a cubin. `number` is the module's number in the plan.
bool kernelsmith_extension_add_module(const void* bytes, std::size_t size, std::uint32_t number) {
  auto facts = cuda::read_cubin({static_cast<const std::byte*>(bytes), size});
  if (!facts) {
    error = facts.error().message;
    return false;
  }
  std::vector<plan::Kernel> kernels;
  for (const cuda::KernelFacts& each : facts->kernels) {
    kernels.push_back(each.kernel);
    kernels.back().module = number;
  }
  recorder().add_module(kernels, facts->symbols, number);
  return true;
}

void kernelsmith_define(const char* name, void* function, Thunk thunk, const char* signature,
                        const char* names, const Value* defaults) {
  functions.push_back({function, thunk});
  python().define(name, signature, names, defaults, static_cast<int>(functions.size()) - 1);
}

int kernelsmith_extension_initialise(void (*initialise)()) { return guarded(initialise); }

/// The caller ends the call with kernelsmith_extension_refusal().
int kernelsmith_extension_call(int function, const Value* arguments, Value* result) {
  const Function& called = functions[static_cast<std::size_t>(function)];
  recorder().begin_call({});
  return guarded([&] { called.thunk(called.function, arguments, result); });
}

/// Ends a call. Returns the reason why the recorder refused it, or an empty text.
const char* kernelsmith_extension_refusal() {
  static std::string refusal;
  refusal = words_of(recorder().end_call());
  return refusal.c_str();
}

/// The recorder's refusal since kernelsmith_extension_begin_library. Only constructors of the library can
/// have caused it.
const char* kernelsmith_extension_load_refusal() { return recorder().refusal().c_str(); }

}  // extern "C"

namespace c10::cuda {
namespace {
CUDAStream current;
}

CUDAStream getCurrentCUDAStream(DeviceIndex) { return current; }
void setCurrentCUDAStream(CUDAStream stream) { current = stream; }
CUDAStream getStreamFromPool(bool, DeviceIndex) {
  return static_cast<cudaStream_t>(kernelsmith::cuda::planner::recorder().create_stream());
}

}  // namespace c10::cuda

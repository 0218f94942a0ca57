#include "planner/refusals.hpp"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace kernelsmith::cuda::planner {
namespace {

constexpr const char* kOwnKernel = "write it as a kernel of your own";
constexpr const char* kDeviceMemory =
    "use the tensors, cudaMallocAsync (for this call) or cudaMalloc (kept from call to call)";
constexpr const char* kOrder =
    "launch the kernels in order, with streams and events where they may overlap; the judge replays the call "
    "as a graph anyway";
constexpr const char* kNoReading =
    "leave the decision to a kernel: the host never sees the tensors' contents";
constexpr const char* kPointers = "read the tensors through their pointers";

struct Advice {
  std::string_view prefix;
  std::string_view what;
  std::string_view instead;
};

/// The first whose prefix fits.
constexpr Advice kAdvice[] = {
    {"cublas", "calls of cuBLAS", "write the product as a kernel of your own"},
    {"cudnn", "calls of cuDNN", kOwnKernel},
    {"cufft", "calls of cuFFT", kOwnKernel},
    {"cusparse", "calls of cuSPARSE", kOwnKernel},
    {"cusolver", "calls of cuSOLVER", kOwnKernel},
    {"cutensor", "calls of cuTENSOR", kOwnKernel},
    {"curand", "calls of cuRAND's host library", "draw the numbers in a kernel"},
    {"nccl", "calls of NCCL", "use one device"},
    {"nvrtc", "compiling at run time", "compile every variant ahead, as templates"},
    {"nvJitLink", "linking at run time", "compile every variant ahead, as templates"},
    {"npp", "calls of NPP", kOwnKernel},
    {"nvtx", "marks for a profiler", "leave them out"},
    {"cudaMallocManaged", "managed memory", kDeviceMemory},
    {"cudaMemPrefetch", "prefetching of managed memory", kDeviceMemory},
    {"cudaMemAdvise", "advice on managed memory", kDeviceMemory},
    {"cudaMemDiscard", "discarding of managed memory", kDeviceMemory},
    {"cudaMemRange", "questions about managed memory", kDeviceMemory},
    {"cudaStreamAttachMem", "managed memory", kDeviceMemory},
    {"__cudaRegisterManaged", "managed variables (__managed__)", "make the variable __device__"},
    {"cudaHostGetDevicePointer", "host memory that kernels use", kDeviceMemory},
    {"cudaHostRegister", "host memory that kernels use", kDeviceMemory},
    {"cudaGraph", "graphs of the candidate's own", kOrder},
    {"cudaUserObject", "graphs of the candidate's own", kOrder},
    {"cudaStreamBeginCapture", "graphs of the candidate's own", kOrder},
    {"cudaStreamEndCapture", "graphs of the candidate's own", kOrder},
    {"cudaStreamUpdateCapture", "graphs of the candidate's own", kOrder},
    {"cudaThreadExchangeStreamCapture", "graphs of the candidate's own", kOrder},
    {"cudaGetSymbolAddress", "the address of a __device__ variable",
     "let the kernel name the variable itself, and set it with cudaMemcpyToSymbolAsync"},
    {"cudaLaunchHostFunc", "host code that runs between kernels", kNoReading},
    {"cudaStreamAddCallback", "host code that runs between kernels", kNoReading},
    {"cudaEventElapsedTime", "times taken inside a call", "choose by the sizes; the judge takes the time"},
    {"cudaMalloc3D", "arrays and pitched volumes", kDeviceMemory},
    {"cudaMallocArray", "arrays and textures", kPointers},
    {"cudaMallocMipmapped", "arrays and textures", kPointers},
    {"cudaFreeArray", "arrays and textures", kPointers},
    {"cudaFreeMipmapped", "arrays and textures", kPointers},
    {"cudaCreateTexture", "textures", kPointers},
    {"cudaDestroyTexture", "textures", kPointers},
    {"cudaCreateSurface", "surfaces", kPointers},
    {"cudaDestroySurface", "surfaces", kPointers},
    {"__cudaRegisterTexture", "textures", kPointers},
    {"__cudaRegisterSurface", "surfaces", kPointers},
    {"cudaMemcpyToArray", "arrays and textures", kPointers},
    {"cudaMemcpy2DToArray", "arrays and textures", kPointers},
    {"cudaMemcpyPeer", "a second device", "use one device"},
    {"cudaMemcpy3D", "copies of volumes", "copy in a kernel"},
    {"cudaMemset3D", "memsets of volumes", "set it in a kernel"},
    {"cudaMemcpyBatch", "batches of copies", "use cudaMemcpyAsync for each, or copy in a kernel"},
    {"cudaDeviceEnablePeer", "a second device", "use one device"},
    {"cudaIpc", "memory of other processes", kDeviceMemory},
    {"cudaImportExternal", "memory of other processes", kDeviceMemory},
    {"cudaMemPoolImport", "memory of other processes", kDeviceMemory},
    {"cudaMemPoolExport", "memory of other processes", kDeviceMemory},
    {"cudaDeviceReset", "resetting the device", "leave it out"},
    {"cudaLibrary", "modules loaded at run time", "compile the kernels with the candidate"},
    {"cudaGetFuncBySymbol", "handles of the driver API", "launch with <<<>>> or cudaLaunchKernelEx"},
    {"cudaLaunchDevice", "launches from the device", "launch from the host"},
    {"cudaGetParameterBuffer", "launches from the device", "launch from the host"},
    {"cudaCGGetIntrinsicHandle", "launches from the device", "launch from the host"},
    {"cuTensorMapEncodeIm2col", "im2col tensor maps", "use cuTensorMapEncodeTiled"},
    {"cuLaunch", "launches of the driver API", "launch with <<<>>> or cudaLaunchKernelEx"},
    {"cuModule", "modules loaded at run time", "compile the kernels with the candidate"},
    {"cuLibrary", "modules loaded at run time", "compile the kernels with the candidate"},
    {"cuLink", "linking at run time", "compile the kernels with the candidate"},
    {"cuMemAlloc", "memory of the driver API", kDeviceMemory},
    {"cuMem", "this way to use memory", kDeviceMemory},
    {"cuGraph", "graphs of the candidate's own", kOrder},
    {"cuStream", "streams of the driver API", "use cudaStreamCreateWithFlags and cudaEventRecord"},
    {"cuEvent", "events of the driver API", "use cudaEventCreateWithFlags"},
    {"cuCtx", "contexts of the driver API", "leave them out: there is one device, and it is current"},
};

std::string symbol_in(std::string_view message) {
  constexpr std::string_view kMark = "undefined symbol: ";
  const auto at = message.find(kMark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = message.substr(at + kMark.size());
  return std::string(rest.substr(0, rest.find_first_of(" ,\n")));
}

std::string readable(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      ::abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() : symbol;
}

bool of_cuda(std::string_view name) {
  for (const Advice& advice : kAdvice)
    if (name.starts_with(advice.prefix)) return true;
  return name.starts_with("cuda") || name.starts_with("__cuda") ||
         (name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z');
}

}  // namespace

std::string refusal_of(std::string_view function) {
  for (const Advice& advice : kAdvice)
    if (function.starts_with(advice.prefix))
      return std::string(function) + ": a plan cannot hold " + std::string(advice.what) + ": " +
             std::string(advice.instead);
  return std::string(function) +
         ": a plan cannot hold this call: use kernel launches, cudaMemsetAsync, cudaMemcpyAsync between "
         "device buffers, streams and events";
}

std::string load_refusal(std::string_view loader_message) {
  const std::string symbol = symbol_in(loader_message);
  if (of_cuda(symbol)) return refusal_of(symbol);
  if (!symbol.empty()) return "the candidate uses `" + readable(symbol) + "`, which nothing defines";
  // "libcublas.so.13: cannot open shared object file: No such file or directory"
  if (loader_message.starts_with("lib") && of_cuda(loader_message.substr(3)))
    return refusal_of(loader_message.substr(3, loader_message.find('.') - 3)) + " (" +
           std::string(loader_message) + ")";
  return "the host library cannot be loaded: " + std::string(loader_message);
}

bool misses_cuda(std::string_view loader_message) {
  const std::string symbol = symbol_in(loader_message);
  return !symbol.empty() && of_cuda(symbol);
}

std::string lookup_refusal(std::string_view printed) {
  const auto at = printed.rfind(": symbol lookup error: ");
  return at == std::string_view::npos ? std::string() : load_refusal(printed.substr(at));
}

}  // namespace kernelsmith::cuda::planner

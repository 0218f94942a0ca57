#include "planner/refusals.hpp"

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::cuda::planner {
namespace {

constexpr const char* kNoReading =
    "leave the decision to a kernel: the host never sees the tensors' contents";
constexpr const char* kPointers = "read the tensors through their pointers";

/// Explanations of the runtime's functions. The first matching prefix is used; `$` is the runtime's prefix.
constexpr Advice kAdvice[] = {
    {"$MallocManaged", "managed memory", kDeviceMemory},
    {"$MemPrefetch", "prefetching of managed memory", kDeviceMemory},
    {"$MemAdvise", "advice on managed memory", kDeviceMemory},
    {"$MemDiscard", "discarding of managed memory", kDeviceMemory},
    {"$MemRange", "questions about managed memory", kDeviceMemory},
    {"$StreamAttachMem", "managed memory", kDeviceMemory},
    {"__$RegisterManaged", "managed variables (__managed__)", "make the variable __device__"},
    {"$HostGetDevicePointer", "host memory that kernels use", kDeviceMemory},
    {"$HostRegister", "host memory that kernels use", kDeviceMemory},
    {"$Graph", "graphs of the candidate's own", kOrder},
    {"$UserObject", "graphs of the candidate's own", kOrder},
    {"$StreamBeginCapture", "graphs of the candidate's own", kOrder},
    {"$StreamEndCapture", "graphs of the candidate's own", kOrder},
    {"$StreamUpdateCapture", "graphs of the candidate's own", kOrder},
    {"$ThreadExchangeStreamCapture", "graphs of the candidate's own", kOrder},
    {"$GetSymbolAddress", "the address of a __device__ variable",
     "let the kernel name the variable itself, and set it with $MemcpyToSymbolAsync"},
    {"$LaunchHostFunc", "host code that runs between kernels", kNoReading},
    {"$StreamAddCallback", "host code that runs between kernels", kNoReading},
    {"$EventElapsedTime", "times taken inside a call", "choose by the sizes; the judge takes the time"},
    {"$Malloc3D", "arrays and pitched volumes", kDeviceMemory},
    {"$MallocArray", "arrays and textures", kPointers},
    {"$MallocMipmapped", "arrays and textures", kPointers},
    {"$FreeArray", "arrays and textures", kPointers},
    {"$FreeMipmapped", "arrays and textures", kPointers},
    {"$CreateTexture", "textures", kPointers},
    {"$DestroyTexture", "textures", kPointers},
    {"$CreateSurface", "surfaces", kPointers},
    {"$DestroySurface", "surfaces", kPointers},
    {"__$RegisterTexture", "textures", kPointers},
    {"__$RegisterSurface", "surfaces", kPointers},
    {"$MemcpyToArray", "arrays and textures", kPointers},
    {"$Memcpy2DToArray", "arrays and textures", kPointers},
    {"$MemcpyPeer", "a second device", kOneDevice},
    {"$Memcpy3D", "copies of volumes", "copy in a kernel"},
    {"$Memset3D", "memsets of volumes", "set it in a kernel"},
    {"$MemcpyBatch", "batches of copies", "use $MemcpyAsync for each, or copy in a kernel"},
    {"$DeviceEnablePeer", "a second device", kOneDevice},
    {"$Ipc", "memory of other processes", kDeviceMemory},
    {"$ImportExternal", "memory of other processes", kDeviceMemory},
    {"$MemPoolImport", "memory of other processes", kDeviceMemory},
    {"$MemPoolExport", "memory of other processes", kDeviceMemory},
    {"$DeviceReset", "resetting the device", "leave it out"},
    {"$Library", "modules loaded at run time", kCompileAhead},
    {"$GetFuncBySymbol", "handles of the driver API", "launch with <<<>>> or $LaunchKernelEx"},
    {"$LaunchDevice", "launches from the device", "launch from the host"},
    {"$GetParameterBuffer", "launches from the device", "launch from the host"},
    {"$CGGetIntrinsicHandle", "launches from the device", "launch from the host"},
};

bool begins_with(std::string_view name, const Advice& advice, const RuntimeNames& names) {
  return name.starts_with(in_runtime_names(advice.prefix, names));
}

const Advice* advice_on(std::string_view function, const RuntimeNames& names) {
  for (const auto& all : {std::span<const Advice>(kAdvice), names.others})
    for (const Advice& advice : all)
      if (begins_with(function, advice, names)) return &advice;
  return nullptr;
}

/// Returns true for "mcMalloc" with "mc", but not for "mcx".
bool is_named(std::string_view name, std::string_view prefix) {
  return !prefix.empty() && name.starts_with(prefix) && name.size() > prefix.size() &&
         name[prefix.size()] >= 'A' && name[prefix.size()] <= 'Z';
}

std::string symbol_in(std::string_view message) {
  constexpr std::string_view kMark = "undefined symbol: ";
  const auto at = message.find(kMark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = message.substr(at + kMark.size());
  return std::string(rest.substr(0, rest.find_first_of(" ,\n")));
}

bool is_of(std::string_view name, const RuntimeNames& names) {
  if (advice_on(name, names) != nullptr || is_named(name, names.driver_prefix)) return true;
  if (name.starts_with("__")) name.remove_prefix(2);
  return is_named(name, names.prefix);
}

}  // namespace

std::string in_runtime_names(std::string_view text, const RuntimeNames& names) {
  std::string whole;
  for (const char c : text) whole += c == '$' ? std::string(names.prefix) : std::string(1, c);
  return whole;
}

std::string refusal_of(std::string_view function, const RuntimeNames& names) {
  if (const Advice* const advice = advice_on(function, names))
    return std::string(function) + ": a plan cannot hold " + std::string(advice->what) + ": " +
           in_runtime_names(advice->instead, names);
  return std::string(function) +
         in_runtime_names(
             ": a plan cannot hold this call: use kernel launches, $MemsetAsync, $MemcpyAsync between device "
             "buffers, streams and events",
             names);
}

std::string load_refusal(std::string_view loader_message, const RuntimeNames& names) {
  const std::string symbol = symbol_in(loader_message);
  if (is_of(symbol, names)) return refusal_of(symbol, names);
  if (!symbol.empty())
    return "the candidate uses `" + plan::readable_name(symbol) + "`, which nothing defines";
  // "libcublas.so.13: cannot open shared object file: No such file or directory"
  if (loader_message.starts_with("lib") && is_of(loader_message.substr(3), names))
    return refusal_of(loader_message.substr(3, loader_message.find('.') - 3), names) + " (" +
           std::string(loader_message) + ")";
  return "the host library cannot be loaded: " + std::string(loader_message);
}

bool misses_runtime(std::string_view loader_message, const RuntimeNames& names) {
  const std::string symbol = symbol_in(loader_message);
  return !symbol.empty() && is_of(symbol, names);
}

std::string lookup_refusal(std::string_view printed, const RuntimeNames& names) {
  const auto at = printed.rfind(": symbol lookup error: ");
  return at == std::string_view::npos ? std::string() : load_refusal(printed.substr(at), names);
}

}  // namespace kernelsmith::cuda::planner

// The recording runtime's device memory, memsets and copies.
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"

// NOLINTBEGIN(readability-identifier-naming): the runtime's own names
using namespace kernelsmith::cuda::planner;
namespace plan = kernelsmith::plan;

namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

Code allocate(Region& region, void** pointer, std::size_t bytes, const char* function) {
  *pointer = nullptr;
  if (bytes == 0) return kSuccess;
  if (Ledger* const ledger = recorder().ledger()) {
    *pointer = pointer_of(ledger->allocate(bytes));
    return *pointer == nullptr ? recorder().failed(kMemoryAllocation) : kSuccess;
  }
  const auto place = region.allocate(bytes);
  if (!place) {
    recorder().refuse(function, std::to_string(bytes) + " bytes cannot be allocated: the workspace has " +
                                    std::to_string(region.bytes()) + ", of which " +
                                    std::to_string(region.in_use()) +
                                    " are in use (what is not freed stays in use in later calls)");
    return recorder().failed(kMemoryAllocation);
  }
  *pointer = pointer_of(*place);
  return kSuccess;
}

Code release(void* pointer) {
  if (pointer == nullptr) return kSuccess;
  if (Ledger* const ledger = recorder().ledger())
    return ledger->release(address_of(pointer)) ? kSuccess : recorder().failed(kInvalidValue);
  if (recorder().kept().release(address_of(pointer))) return kSuccess;
  if (recorder().call_memory().release(address_of(pointer))) return kSuccess;
  return recorder().failed(kInvalidValue);
}

/// Whether this process has memory there; checks both ends of the range.
bool on_host(const void* begin, std::size_t bytes) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto is_mapped = [](std::uint64_t address) {
    return msync(pointer_of(address & ~(page - 1)), page, MS_ASYNC) == 0;  // ENOMEM means not mapped
  };
  return is_mapped(address_of(begin)) && is_mapped(address_of(begin) + bytes - 1);
}

Code refuse_device_pointers(const char* function) {
  return recorder().refuse(function, "both are device pointers: use " KERNELSMITH_PREFIX
                                     "MemcpyDeviceToDevice (the entry's tensors are "
                                     "on the device already, and kernels may be given them as they are)");
}

/// Returns false after a refusal. An explicit kind is trusted if this process has memory at the address: by
/// chance the same address may also be a device address.
bool may_read(const void* from, std::size_t bytes, const char* function) {
  if (on_host(from, bytes)) return true;
  if (recorder().on_device(from))
    refuse_device_pointers(function);
  else
    recorder().refuse(function, "its source is said to be on the host, and is not");
  return false;
}

Code upload(void* to, const void* from, std::size_t bytes, void* stream, const char* function) {
  if (!may_read(from, bytes, function)) return kNotSupported;
  const auto* const begin = static_cast<const std::byte*>(from);
  if (bytes > plan::kMaxUpload)
    return recorder().refuse(function, "a plan cannot hold more than " + std::to_string(plan::kMaxUpload) +
                                           " bytes copied from the host at once (" + std::to_string(bytes) +
                                           " were): inputs come as the entry's tensors, and tables can be "
                                           "computed in a kernel");
  if (recorder().holds_token({begin, bytes}))
    return recorder().refuse(function,
                             "a plan cannot hold a tensor map in device memory: pass the CUtensorMap "
                             "to the kernel as a `const __grid_constant__ CUtensorMap` parameter");
  return recorder().add(stream, plan::Upload{address_of(to), {begin, begin + bytes}}, function);
}

/// Decides the kind of each end for cudaMemcpyDefault.
CopyKind kind_by_address(const void* to, const void* from) {
  if (!recorder().on_device(from)) return recorder().on_device(to) ? kHostToDevice : kHostToHost;
  return recorder().on_device(to) ? kDeviceToDevice : kDeviceToHost;
}

Code copy(void* to, const void* from, std::size_t bytes, int kind, void* stream, const char* function) {
  if (bytes == 0) return kSuccess;
  switch (kind == kByAddress ? kind_by_address(to, from) : kind) {
    case kHostToHost:
      if (!may_read(from, bytes, function)) return kNotSupported;
      if (!on_host(to, bytes))
        return recorder().refuse(function, "its destination is said to be on the host, and is not");
      std::memmove(to, from, bytes);
      return kSuccess;
    case kHostToDevice:
      return upload(to, from, bytes, stream, function);
    case kDeviceToDevice:
      return recorder().add(stream, plan::Copy{address_of(to), address_of(from), bytes}, function);
    case kDeviceToHost:
      if (recorder().on_device(to) && !on_host(to, bytes)) return refuse_device_pointers(function);
      return recorder().refuse(function,
                               "a plan cannot hold reading device memory on the host: leave the "
                               "decision to a kernel (the host never sees the tensors' contents)");
    default:
      return recorder().failed(kInvalidValue);
  }
}

/// Copies `rows` pieces of `width` bytes, each as its own operation, or as one if they are contiguous.
template <class Row>
Code by_rows(std::size_t width, std::size_t rows, bool side_by_side, const char* function, const Row& row) {
  if (width == 0 || rows == 0) return kSuccess;
  if (side_by_side) return row(0, width * rows);
  if (rows > plan::kMaxOperations)
    return recorder().refuse(function, std::to_string(rows) +
                                           " rows are more operations than a plan holds: "
                                           "do it in a kernel");
  for (std::size_t i = 0; i < rows; ++i)
    if (const Code code = row(i, width); code != kSuccess) return code;
  return kSuccess;
}

Code set(void* to, int value, std::size_t bytes, void* stream, const char* function) {
  if (bytes == 0) return kSuccess;
  const auto low = static_cast<std::uint32_t>(value) & 0xff;
  return recorder().add(stream, plan::Memset{address_of(to), low, 1, bytes}, function);
}

Code to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind,
               void* stream, const char* function) {
  const Variable* const variable = recorder().variable(symbol);
  if (variable == nullptr) return recorder().failed(kInvalidSymbol);
  if (offset > variable->bytes || bytes > variable->bytes - offset) return recorder().failed(kInvalidValue);
  if (bytes == 0) return kSuccess;
  const bool on_device = kind == kDeviceToDevice || (kind == kByAddress && recorder().on_device(from));
  if (Ledger* const ledger = recorder().ledger(); on_device && ledger != nullptr)
    return ledger->copy_to_variable(*variable, offset, address_of(from), bytes);
  if (on_device)
    return recorder().refuse(function,
                             "a plan cannot hold copying device memory to a variable: let a kernel "
                             "write the variable");
  if (bytes > plan::kMaxUpload)
    return recorder().refuse(function, "a plan cannot hold more than " + std::to_string(plan::kMaxUpload) +
                                           " bytes copied from the host at once");
  if (!may_read(from, bytes, function)) return kNotSupported;
  const auto* const begin = static_cast<const std::byte*>(from);
  if (recorder().holds_token({begin, bytes}))
    return recorder().refuse(function,
                             "a plan cannot hold a tensor map in a variable: pass the CUtensorMap to "
                             "the kernel as a `const __grid_constant__ CUtensorMap` parameter");
  return recorder().add(
      stream, plan::SymbolUpload{variable->module, variable->name, offset, {begin, begin + bytes}}, function);
}

Code from_symbol(const void* to, int kind, const char* function) {
  if (kind == kDeviceToDevice || (kind == kByAddress && recorder().on_device(to)))
    return recorder().refuse(function,
                             "a plan cannot hold copying a variable to device memory: let a kernel read it");
  return recorder().refuse(function,
                           "a plan cannot hold reading device memory on the host: leave the decision to a "
                           "kernel: the host never sees the tensors' contents");
}

Code pin(void** pointer, std::size_t bytes) {
  *pointer = std::calloc(1, bytes == 0 ? 1 : bytes);
  if (*pointer == nullptr) return recorder().failed(kMemoryAllocation);
  recorder().pinned()[reinterpret_cast<std::uintptr_t>(*pointer)] = bytes;
  return kSuccess;
}

}  // namespace

// Device memory. As in CUDA, memory of cudaMallocAsync lasts until cudaFreeAsync; memory that a call does not
// free is not reused later.
KERNELSMITH_FUNCTION(Malloc)(void** pointer, std::size_t bytes) {
  return allocate(recorder().kept(), pointer, bytes, KERNELSMITH_PREFIX "Malloc");
}
KERNELSMITH_FUNCTION(MallocPitch)(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows) {
  constexpr std::size_t kPitch = 512;  // CUDA's own
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (recorder().ledger() == nullptr && rows != 0 && *pitch > recorder().kept().bytes() / rows)
    return recorder().failed(kMemoryAllocation);
  return allocate(recorder().kept(), pointer, *pitch * rows, KERNELSMITH_PREFIX "MallocPitch");
}
KERNELSMITH_FUNCTION(Free)(void* pointer) { return release(pointer); }
KERNELSMITH_FUNCTION(MallocAsync)(void** pointer, std::size_t bytes, void*) {
  return allocate(recorder().call_memory(), pointer, bytes, KERNELSMITH_PREFIX "MallocAsync");
}
KERNELSMITH_FUNCTION(MallocFromPoolAsync)(void** pointer, std::size_t bytes, void*, void*) {
  return allocate(recorder().call_memory(), pointer, bytes, KERNELSMITH_PREFIX "MallocFromPoolAsync");
}
KERNELSMITH_FUNCTION(FreeAsync)(void* pointer, void*) { return release(pointer); }

// There is one pool, and setting its attributes has no effect.
KERNELSMITH_FUNCTION(DeviceGetDefaultMemPool)(void** pool, int) {
  return answer(pool, Recorder::call_stream());
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(DeviceGetMemPool), KERNELSMITH_RUNTIME(DeviceGetDefaultMemPool));
KERNELSMITH_FUNCTION(DeviceSetMemPool)(int, void*) { return kSuccess; }
KERNELSMITH_FUNCTION(MemPoolCreate)(void** pool, const void*) {
  return KERNELSMITH_RUNTIME(DeviceGetDefaultMemPool)(pool, 0);
}
KERNELSMITH_FUNCTION(MemPoolDestroy)(void*) { return kSuccess; }
KERNELSMITH_FUNCTION(MemPoolSetAttribute)(void*, int, void*) { return kSuccess; }
KERNELSMITH_FUNCTION(MemPoolTrimTo)(void*, std::size_t) { return kSuccess; }

// Pinned host memory, for copies to the device. A launch that passes it to a kernel is refused.
KERNELSMITH_FUNCTION(MallocHost)(void** pointer, std::size_t bytes) { return pin(pointer, bytes); }
KERNELSMITH_FUNCTION(HostAlloc)(void** pointer, std::size_t bytes, unsigned) { return pin(pointer, bytes); }
KERNELSMITH_FUNCTION(FreeHost)(void* pointer) {
  if (recorder().pinned().erase(reinterpret_cast<std::uintptr_t>(pointer)) > 0) std::free(pointer);
  return kSuccess;
}

KERNELSMITH_FUNCTION(MemGetInfo)(std::size_t* free, std::size_t* total) {
  *free = recorder().ledger() != nullptr
              ? recorder().device().memory_bytes
              : recorder().call_memory().bytes() - recorder().call_memory().in_use();
  *total = recorder().device().memory_bytes;
  return kSuccess;
}
KERNELSMITH_FUNCTION(PointerGetAttributes)(AbiPointerAttributes* attributes, const void* pointer) {
  const bool pinned = recorder().pinned().contains(reinterpret_cast<std::uintptr_t>(pointer));
  const bool device = recorder().on_device(pointer);
  attributes->type = device ? kDeviceMemoryType : pinned ? kHostMemory : kUnregistered;
  attributes->device = device ? 0 : -2;  // cudaInvalidDeviceId
  attributes->device_pointer = device ? const_cast<void*>(pointer) : nullptr;
  attributes->host_pointer = device ? nullptr : const_cast<void*>(pointer);
  return kSuccess;
}

// Memsets.
KERNELSMITH_FUNCTION(MemsetAsync)(void* to, int value, std::size_t bytes, void* stream) {
  return set(to, value, bytes, stream, KERNELSMITH_PREFIX "MemsetAsync");
}
KERNELSMITH_FUNCTION(Memset)(void* to, int value, std::size_t bytes) {
  return set(to, value, bytes, nullptr, KERNELSMITH_PREFIX "Memset");
}
KERNELSMITH_FUNCTION(Memset2DAsync)
(void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows, void* stream) {
  return by_rows(width, rows, pitch == width, KERNELSMITH_PREFIX "Memset2DAsync",
                 [&](std::size_t row, std::size_t bytes) {
                   return set(static_cast<std::byte*>(to) + row * pitch, value, bytes, stream,
                              KERNELSMITH_PREFIX "Memset2DAsync");
                 });
}
KERNELSMITH_FUNCTION(Memset2D)(void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows) {
  return KERNELSMITH_RUNTIME(Memset2DAsync)(to, pitch, value, width, rows, nullptr);
}
// Memsets of words exist only in the driver.
KERNELSMITH_DRIVER_FUNCTION(MemsetD8Async)
(std::uint64_t to, unsigned char value, std::size_t count, void* stream) {
  return recorder().add(stream, plan::Memset{to, value, 1, count}, KERNELSMITH_DRIVER_NAME("MemsetD8Async"));
}
KERNELSMITH_DRIVER_FUNCTION(MemsetD16Async)
(std::uint64_t to, unsigned short value, std::size_t count, void* stream) {
  return recorder().add(stream, plan::Memset{to, value, 2, count}, KERNELSMITH_DRIVER_NAME("MemsetD16Async"));
}
KERNELSMITH_DRIVER_FUNCTION(MemsetD32Async)
(std::uint64_t to, unsigned value, std::size_t count, void* stream) {
  return recorder().add(stream, plan::Memset{to, value, 4, count}, KERNELSMITH_DRIVER_NAME("MemsetD32Async"));
}

// Copies.
KERNELSMITH_FUNCTION(MemcpyAsync)(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  return copy(to, from, bytes, kind, stream, KERNELSMITH_PREFIX "MemcpyAsync");
}
KERNELSMITH_FUNCTION(Memcpy)(void* to, const void* from, std::size_t bytes, int kind) {
  return copy(to, from, bytes, kind, nullptr, KERNELSMITH_PREFIX "Memcpy");
}
KERNELSMITH_FUNCTION(Memcpy2DAsync)
(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
 std::size_t rows, int kind, void* stream) {
  const bool side_by_side = to_pitch == width && from_pitch == width;
  return by_rows(width, rows, side_by_side, KERNELSMITH_PREFIX "Memcpy2DAsync",
                 [&](std::size_t row, std::size_t bytes) {
                   return copy(static_cast<std::byte*>(to) + row * to_pitch,
                               static_cast<const std::byte*>(from) + row * from_pitch, bytes, kind, stream,
                               KERNELSMITH_PREFIX "Memcpy2DAsync");
                 });
}
KERNELSMITH_FUNCTION(Memcpy2D)
(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
 std::size_t rows, int kind) {
  return KERNELSMITH_RUNTIME(Memcpy2DAsync)(to, to_pitch, from, from_pitch, width, rows, kind, nullptr);
}

KERNELSMITH_FUNCTION(MemcpyToSymbolAsync)
(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind, void* stream) {
  return to_symbol(symbol, from, bytes, offset, kind, stream, KERNELSMITH_PREFIX "MemcpyToSymbolAsync");
}
KERNELSMITH_FUNCTION(MemcpyToSymbol)
(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind) {
  return to_symbol(symbol, from, bytes, offset, kind, nullptr, KERNELSMITH_PREFIX "MemcpyToSymbol");
}
KERNELSMITH_FUNCTION(MemcpyFromSymbolAsync)
(void* to, const void*, std::size_t, std::size_t, int kind, void*) {
  return from_symbol(to, kind, KERNELSMITH_PREFIX "MemcpyFromSymbolAsync");
}
KERNELSMITH_FUNCTION(MemcpyFromSymbol)(void* to, const void*, std::size_t, std::size_t, int kind) {
  return from_symbol(to, kind, KERNELSMITH_PREFIX "MemcpyFromSymbol");
}
/// The description is not refused; only the textures and arrays that it describes are.
KERNELSMITH_RECORDED AbiChannelDescriptor KERNELSMITH_RUNTIME(CreateChannelDesc)(int x, int y, int z, int w,
                                                                                 int kind) {
  return {x, y, z, w, kind};
}
KERNELSMITH_FUNCTION(GetSymbolSize)(std::size_t* bytes, const void* symbol) {
  const Variable* const variable = recorder().variable(symbol);
  if (variable == nullptr) return recorder().failed(kInvalidSymbol);
  *bytes = variable->bytes;
  return kSuccess;
}

KERNELSMITH_EACH(KERNELSMITH_PTSZ, MallocAsync, MallocFromPoolAsync, FreeAsync, MemsetAsync, Memset2DAsync,
                 MemcpyAsync, Memcpy2DAsync, MemcpyToSymbolAsync, MemcpyFromSymbolAsync)
KERNELSMITH_EACH(KERNELSMITH_PTDS, Memset, Memset2D, Memcpy, Memcpy2D, MemcpyToSymbol, MemcpyFromSymbol)
// NOLINTEND(readability-identifier-naming)

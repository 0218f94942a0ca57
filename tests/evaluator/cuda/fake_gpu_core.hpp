// What the drivers without a GPU have in common: streams, events and graphs over one thread that carries out
// what streams hold. For the one file of a driver that includes it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/driver_abi.hpp"

namespace abi = kernelsmith::cuda::abi;

using Task = std::function<void()>;
using Steady = std::chrono::steady_clock;

namespace kernelsmith::cuda::abi {
struct GraphObject {
  std::vector<Task> tasks;
};
struct GraphExecObject {
  std::vector<Task> tasks;
};
struct StreamObject {
  GraphObject* capture = nullptr;
};
struct EventObject {
  std::atomic<bool> done{true};
  Steady::time_point time;
  GraphObject* capture = nullptr;
};
}  // namespace kernelsmith::cuda::abi

namespace fake {

struct Gpu {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  bool busy = false;
  std::atomic<abi::Code> fault{0};
  std::map<abi::MemoryHandle, int> memory;
  abi::MemoryHandle next_handle = 1;

  Gpu() {
    std::thread([this] { work(); }).detach();
  }
  [[noreturn]] void work() {
    while (true) {
      Task task;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !tasks.empty(); });
        task = std::move(tasks.front());
        tasks.pop_front();
        busy = true;
      }
      if (fault == 0) task();
      const std::lock_guard lock(mutex);
      busy = false;
      changed.notify_all();
    }
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return (tasks.empty() && !busy) || fault != 0; });
  }
};
/// When something happens on the device, as its events tell it.
inline Steady::time_point (*device_time)() = Steady::now;

inline Gpu& gpu() {
  static Gpu* const made = new Gpu;
  return *made;
}

inline abi::Code add(abi::Stream stream, Task task) {
  if (gpu().fault != 0) return gpu().fault;
  if (stream != nullptr && stream->capture != nullptr) {
    stream->capture->tasks.push_back(std::move(task));
    return 0;
  }
  const std::lock_guard lock(gpu().mutex);
  gpu().tasks.push_back(std::move(task));
  gpu().changed.notify_all();
  return 0;
}

template <class T>
abi::Code fill(abi::Address to, T word, std::size_t count, abi::Stream stream) {
  return add(stream, [=] { std::fill_n(reinterpret_cast<T*>(to), count, word); });
}

inline abi::Code copy(void* to, const void* from, std::size_t bytes, abi::Stream stream) {
  return add(stream, [=] { std::memcpy(to, from, bytes); });
}

// Memory: the host's, shared by memfd as the real one's is.

inline abi::Code create_memory(abi::MemoryHandle* handle, std::size_t bytes) {
  if (bytes > (std::size_t{1} << 30)) return abi::kOutOfMemory;
  const int file = ::memfd_create("fake", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) return abi::kOutOfMemory;
  gpu().memory[*handle = gpu().next_handle++] = file;
  return 0;
}
inline abi::Code release_memory(abi::MemoryHandle handle) {
  ::close(gpu().memory.at(handle));
  gpu().memory.erase(handle);
  return 0;
}
inline abi::Code reserve_addresses(abi::Address* address, std::size_t bytes) {
  constexpr std::uint64_t granule = 2 << 20;
  void* const made =
      ::mmap(nullptr, bytes + granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return abi::kOutOfMemory;
  *address = (reinterpret_cast<abi::Address>(made) + granule - 1) / granule * granule;
  return 0;
}
inline abi::Code map_memory(abi::Address address, std::size_t bytes, abi::MemoryHandle handle) {
  void* const made = ::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
                            gpu().memory.at(handle), 0);
  return made == MAP_FAILED ? abi::kInvalidValue : 0;
}
inline abi::Code unmap_memory(abi::Address address, std::size_t bytes) {
  ::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return 0;
}
inline abi::Code allow_access(abi::Address address, std::size_t bytes) {
  return ::mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : 1;
}
inline abi::Code export_memory(void* descriptor, abi::MemoryHandle handle) {
  return *static_cast<int*>(descriptor) = ::dup(gpu().memory.at(handle)), 0;
}
inline abi::Code import_memory(abi::MemoryHandle* handle, void* descriptor) {
  const int file = ::dup(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)));
  if (file < 0) return abi::kInvalidValue;
  gpu().memory[*handle = gpu().next_handle++] = file;
  return 0;
}

// Streams, captures and events.

inline abi::Code wait_event(abi::Stream stream, abi::Event event) {
  if (event->capture != nullptr) stream->capture = event->capture;
  return 0;
}
inline abi::Code end_capture(abi::Stream stream, abi::Graph* graph) {
  *graph = std::exchange(stream->capture, nullptr);
  return *graph != nullptr ? 0 : abi::kInvalidValue;
}
inline abi::Code record_event(abi::Event event, abi::Stream stream) {
  event->capture = stream->capture;
  if (stream->capture != nullptr) return 0;
  event->done = false;
  return add(stream, [event] {
    event->time = device_time();
    event->done = true;
  });
}
inline abi::Code query_event(abi::Event event) {
  if (gpu().fault != 0) return gpu().fault;
  return event->done ? 0 : abi::kNotReady;
}
inline abi::Code launch_graph(abi::GraphExec exec, abi::Stream stream) {
  for (const Task& task : exec->tasks)
    if (const abi::Code code = add(stream, task); code != 0) return code;
  return 0;
}

}  // namespace fake

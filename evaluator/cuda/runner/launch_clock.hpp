// LaunchClock: starts a graph from a known state of the GPU and measures its time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "device/context.hpp"
#include "runner/address_space.hpp"

namespace kernelsmith::cuda {

struct LaunchTime {
  double device_us = 0, host_us = 0;
  bool late = false;  ///< see ReplayTime
};

/// Not thread-safe. Its context must be current. Its resources are released with the process.
class LaunchClock {
 public:
  using Clock = std::chrono::steady_clock;
  using Limit = Clock::duration;

  /// Also measures the empty graph. Errors: tool_failed.
  static Result<std::unique_ptr<LaunchClock>> create(const DeviceContext& context, AddressSpace& addresses,
                                                     const std::filesystem::path& kernels);

  abi::Stream stream() const { return stream_.get(); }
  const LaunchTime& empty() const { return empty_; }  ///< of a graph without work

  /// Starts to fill the regions' memory, and shared memory and registers of all SMs, with the word. Does not
  /// wait.
  Status poison(std::span<Region* const> regions, std::uint32_t word);
  /// Like poison(), for this many bytes of local memory of each thread that can run in parallel.
  Status poison_local(std::uint32_t bytes, std::uint32_t word);

  /// Launches the graph once. The GPU begins only when the launch is complete: a gate before the first event
  /// holds the stream until then, and the time limit starts there. A Rejection: crashed, timed_out,
  /// load_failed, out_of_memory.
  Judged<LaunchTime> run(abi::GraphExec graph, bool cold, Limit limit);

  /// Waits for our own work on the stream. Exceeding the limit is an Error, because other programs occupy the
  /// GPU.
  Judged<void> drain(Limit limit);

 private:
  explicit LaunchClock(const DeviceContext& context) : context_(context), driver_(context.driver()) {}
  Status prepare(AddressSpace& addresses);
  Status prepare_kernels(const std::filesystem::path& kernels);
  Result<abi::Module> load_own(const std::string& text_or_image);
  Status measure_empty();
  Status launch(abi::Function kernel, unsigned grid, unsigned block, unsigned shared, void** parameters);
  Result<abi::Function> local_wipe(std::uint32_t frame);
  Status sweep();
  Status close_gate();
  void open_gate() { std::atomic_ref(*gate_).store(1, std::memory_order_release); }
  Judged<LaunchTime> launch_gated(abi::GraphExec graph, Limit limit);
  Judged<void> wait(abi::Event event, Limit limit);

  const DeviceContext& context_;
  const Driver& driver_;
  Owned<abi::Stream> stream_;
  Owned<abi::Event> begin_, end_;
  abi::Module kernels_ = nullptr;
  abi::Function wipe_ = nullptr, wipe_registers_ = nullptr, sweep_ = nullptr, gate_kernel_ = nullptr;
  std::map<std::uint32_t, abi::Function> local_wipes_;  ///< by frame
  unsigned multiprocessors_ = 0, shared_bytes_ = 0;
  Region* scratch_ = nullptr;  ///< memory that sweep() reads
  std::uint32_t* gate_ = nullptr;
  abi::Address gate_address_ = 0;
  LaunchTime empty_;
};

}  // namespace kernelsmith::cuda

// Runner: the trusted process with the context of candidate kernels. It replays plans and measures times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "device/device.hpp"

namespace kernelsmith::cuda {

struct RunnerSettings {
  std::filesystem::path program;  ///< kernelsmith-cuda-runner
  int device = 0;
  const GpuVendor* vendor = nullptr;   ///< the device's vendor
  std::filesystem::path kernels = {};  ///< the image of own_kernels.cu, if it is compiled for the vendor
};

/// Options of a replay.
struct Replay {
  std::size_t calls = 1;  ///< number of calls, from the plan's first
  bool cold = true;       ///< the L2 is swept right before the clock starts
  double timeout_s = 10;  ///< limit of the calls from their release, without loading and building
};

/// The times of a whole batch, in microseconds.
struct ReplayTime {
  double device_us = 0;      ///< between two events around the graph
  double empty_us = 0;       ///< the same around a graph without work, measured when the runner started
  double host_us = 0;        ///< wall time from the graph's release to its end, as a second witness
  double empty_host_us = 0;  ///< the same around a graph without work, measured when the runner started
  bool late = false;         ///< the launch waited for the GPU: device_us includes host time
  double load_ms = 0, build_ms = 0;    ///< modules loaded; graph built and instantiated
  std::uint32_t throttle_reasons = 0;  ///< see ClockState; read around the batch
  std::uint32_t sm_mhz = 0;            ///< right after the batch; 0: unknown
};

/// The runner's process holds no secrets of the judge. When it dies (a sticky fault, a kernel that never
/// ends), the runner is replaced. Not thread-safe.
class Runner {
 public:
  /// Starts the process and its context (0.2 to 0.3 s). Errors: unsupported, tool_failed.
  static Result<std::unique_ptr<Runner>> start(const RunnerSettings& settings);
  virtual ~Runner() = default;

  virtual bool alive() const = 0;

  /// Maps shared memory, each piece at a random address with unmapped gaps around it, and returns the
  /// addresses.
  virtual Result<std::vector<std::uint64_t>> map(std::span<const SharedMemory* const> pieces) = 0;

  /// Unmaps pieces by their addresses. Plans that use them must not be replayed any more.
  virtual Status unmap(std::span<const std::uint64_t> addresses) = 0;

  /// The two workspace regions' addresses; memory is mapped when a plan needs it.
  virtual plan::Workspace workspace() const = 0;

  /// Keeps the plan for replay() and returns its number. The runner keeps only a few: forget() unused ones.
  virtual Result<std::uint32_t> keep(const plan::Plan& plan) = 0;
  virtual void forget(std::uint32_t number) = 0;

  /// Loads the plan's modules again (so that __device__ memory has its initial values), poisons the
  /// workspace, wipes shared memory, builds the graph of the first calls with a full barrier between calls,
  /// sweeps the L2 if cold, replays the graph once, and unloads the modules. A Rejection is the plan's fault:
  /// load_failed (a launch that the driver refuses, with its message), out_of_memory, crashed (an illegal
  /// address ...), timed_out. After crashed and timed_out the runner is dead; after an Error it may be: see
  /// alive(). On a stop request the runner is killed (cancelled).
  virtual Judged<ReplayTime> replay(std::uint32_t number, const Replay& replay,
                                    const std::stop_token& stop) = 0;
};

}  // namespace kernelsmith::cuda

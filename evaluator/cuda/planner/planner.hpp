// Planner: runs a candidate's host code in a sandbox without a GPU and gets the plan of one call after
// another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda {

/// The allocation units of a multiprocessor's registers and shared memory.
struct OccupancyRules {
  std::uint32_t register_granule = 1;  ///< unit of registers for a wave
  std::uint32_t shared_granule = 1;    ///< unit of shared memory for a block, in bytes
  std::uint32_t partitions = 1;        ///< partitions of a multiprocessor, each with its own registers
  friend bool operator==(const OccupancyRules&, const OccupancyRules&) = default;
};

/// The recording runtime's answers to queries about the device. Recorded once on the real device, or made up
/// if there is none (DeviceTable::usual).
struct DeviceFacts {
  std::string name;
  std::uint32_t arch = 90;        ///< ten times major plus minor
  std::map<int, int> attributes;  ///< by DeviceAttribute (planner/occupancy.hpp)
  std::uint64_t memory_bytes = 0;
  int driver_version = 0;  ///< in the driver's format
  OccupancyRules occupancy;
  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};

struct PlannerSettings {
  std::filesystem::path program;  ///< the vendor's planner
  DeviceFacts device;
  plan::Workspace workspace;
  bool unsandboxed = false;
  RuntimeNames names = {};
};

/// Not thread-safe.
class Planner {
 public:
  /// Starts the sandboxed planner and loads the host library. `kernels` are those of the binary's image.
  /// A Rejection (stage plan, code plan_failed, crashed, exited, timed_out or sandbox_violation) if the
  /// library cannot be loaded.
  static Judged<std::unique_ptr<Planner>> start(const PlannerSettings& settings,
                                                const std::filesystem::path& host_library,
                                                std::span<const plan::Kernel> kernels,
                                                std::span<const std::string> symbols, std::stop_token stop);
  ~Planner();

  /// Calls the entry once with these device addresses. The candidate does not know the next call's addresses
  /// until this plan has been received, so no call can do work for a later one. The plan has passed
  /// plan::check() against `buffers` (one for each tensor).
  Judged<plan::Call> plan(std::span<const plan::Buffer> buffers, std::span<const std::int64_t> sizes,
                          double timeout_s);

  /// Requests of the host code so far that plans omit because they only affect the speed.
  const std::set<std::string>& left_out() const;

 private:
  struct State;
  explicit Planner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelsmith::cuda

// Planner: a candidate's host code in a sandbox without a GPU, asked for the plan of one call after another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda {

/// In which pieces a multiprocessor gives its registers and its shared memory to blocks.
struct OccupancyRules {
  std::uint32_t register_granule = 1;  ///< registers are given to a wave in such pieces
  std::uint32_t shared_granule = 1;    ///< bytes of shared memory are given to a block in such pieces
  std::uint32_t partitions = 1;        ///< of a multiprocessor, each with its own registers
  friend bool operator==(const OccupancyRules&, const OccupancyRules&) = default;
};

/// What the recording runtime answers to questions about the device. Recorded once on the real device, or
/// made up if there is none (DeviceTable::usual).
struct DeviceFacts {
  std::string name;
  std::uint32_t arch = 90;        ///< ten times major plus minor
  std::map<int, int> attributes;  ///< by DeviceAttribute (planner/occupancy.hpp)
  std::uint64_t memory_bytes = 0;
  int driver_version = 0;  ///< as the driver counts
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

  /// Calls the entry once with these device addresses. The next call's addresses are not known to the
  /// candidate before this one's plan has been received: no call can be planned to serve a later one. The
  /// plan has passed plan::check() against `buffers` (one for each tensor).
  Judged<plan::Call> plan(std::span<const plan::Buffer> buffers, std::span<const std::int64_t> sizes,
                          double timeout_s);

  /// What the host code asked for until now and the plans leave out, because it changes nothing but the
  /// speed.
  const std::set<std::string>& left_out() const;

 private:
  struct State;
  explicit Planner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelsmith::cuda

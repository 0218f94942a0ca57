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

namespace kernelsmith::cuda {

/// What the recording runtime answers to questions about the device. Recorded once on the real device, or
/// made up if there is none (`h100()`).
struct DeviceFacts {
  std::string name;               ///< "NVIDIA H100 80GB HBM3"
  std::uint32_t arch = 90;        ///< ten times major plus minor
  std::map<int, int> attributes;  ///< by CUdevice_attribute / cudaDeviceAttr (the same numbers)
  std::uint64_t memory_bytes = 0;
  int driver_version = 0;  ///< 13000
  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};
DeviceFacts h100();

struct PlannerSettings {
  std::filesystem::path program;  ///< kernelsmith-cuda-planner
  DeviceFacts device;
  plan::Workspace workspace;
  bool unsandboxed = false;
};

/// Not thread-safe.
class Planner {
 public:
  /// Starts the sandboxed planner and loads the host library. `kernels` are those of the binary's cubin.
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

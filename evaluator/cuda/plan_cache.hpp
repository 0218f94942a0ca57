// PlanCache: the plans of binaries for the current addresses of buffers, made in the planner's sandbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/inputs.hpp>
#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "planner/planner.hpp"
#include "toolchain/cuda_compiler.hpp"

namespace kernelsmith::cuda {

/// The places of the tensors of each call. Immutable.
struct CallAddresses {
  std::uint64_t epoch = 0;
  plan::Workspace workspace;
  std::vector<std::vector<std::vector<plan::Buffer>>> buffers;  ///< by shape, slot and tensor
};
using CallAddressesPtr = std::shared_ptr<const CallAddresses>;

/// All operations of a binary at all shapes. Immutable.
struct PlannedBinary {
  CudaBinaryPtr binary;
  CallAddressesPtr where;
  std::vector<plan::Plan> by_shape;  ///< with a call for each slot
  std::set<std::string> left_out;    ///< harmless requests of the host code that plans omit
};
using PlannedBinaryPtr = std::shared_ptr<const PlannedBinary>;

/// What planning needs besides the binary.
struct PlanSetup {
  PlannerSettings planner;  ///< its workspace is that of the address space
  std::vector<TaskShape> shapes;
  double timeout_s = 10;  ///< for planning one call
};

/// Plans all shapes in parallel, each in a planner of its own. A Rejection (stage plan) names the shape.
Judged<PlannedBinaryPtr> plan_binary(const PlanSetup& setup, const CudaBinaryPtr& binary,
                                     const CallAddressesPtr& where, const std::stop_token& stop);

/// Plans a binary for these addresses. Thread-safe.
using PlanFunction = std::function<Judged<PlannedBinaryPtr>(const CudaBinaryPtr&, const CallAddressesPtr&,
                                                            const std::stop_token&)>;

/// plan_binary() with that setup.
PlanFunction planning_with(PlanSetup setup);

/// Keeps the last few plans. Thread-safe.
class PlanCache {
 public:
  explicit PlanCache(PlanFunction plan) : plan_(std::move(plan)) {}

  /// From now on plans are made for these addresses.
  void move_to(CallAddressesPtr where);
  CallAddressesPtr where() const;

  /// The plans for the value of where() at the beginning of the call.
  Judged<PlannedBinaryPtr> find_or_plan(const CudaBinaryPtr& binary, const std::stop_token& stop);

 private:
  /// Room for candidate, yardstick, baseline, seed and rival, and for programs that are planned in advance
  /// during timing.
  static constexpr std::size_t kMost = 64;

  const PlanFunction plan_;
  mutable Mutex mutex_;
  CallAddressesPtr where_ KERNELSMITH_GUARDED_BY(mutex_);
  std::list<PlannedBinaryPtr> planned_ KERNELSMITH_GUARDED_BY(mutex_);  ///< most recently used first
};

/// The launches of the first call at the first shape.
std::vector<const plan::Launch*> launches_of(const PlannedBinary& planned);

/// The features of a planned binary for the archive: registers, spilled bytes, shared memory, launches,
/// tensor cores, occupancy and waves on that device.
std::map<std::string, double> features_of(const PlannedBinary& planned, const DeviceFacts& device);

/// The largest device memory of a call at one of the first `timed` shapes: its tensors and its part of the
/// workspaces.
double peak_memory(const PlannedBinary& planned, std::size_t timed);

/// Describes the compiled kernels for people and models: a line for each.
std::string kernel_table(const PlannedBinary& planned);

/// Describes the plan of a call at the first shape for people.
std::string plan_text(const PlannedBinary& planned, const Task& task);

}  // namespace kernelsmith::cuda

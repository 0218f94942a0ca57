// CudaHost: the judge's view of a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>

#include "call_buffers.hpp"
#include "comparer.hpp"
#include "gpu.hpp"
#include "plan_cache.hpp"
#include "set_cache.hpp"

namespace kernelsmith::cuda {

/// Not thread-safe; its PlanCache is.
class CudaHost final : public KernelHost {
 public:
  /// From now on `plans` uses this host's buffers. Errors: unsupported, tool_failed.
  static Result<std::shared_ptr<CudaHost>> create(std::shared_ptr<const Task> task, std::shared_ptr<Gpu> gpu,
                                                  std::shared_ptr<PlanCache> plans, BufferLayout layout,
                                                  std::span<const std::byte> judge_kernels, bool sandboxed);

  HostTraits traits() const override { return traits_; }
  std::size_t capacity(std::size_t) const override { return buffers_.layout().slots(); }
  Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                              const std::stop_token& stop) override;
  void rest() override { gpu_->rest(); }
  Result<double> least_us(std::size_t shape, const InputSet& set) override;

  // Functions for sessions.

  /// The runner's numbers of a binary's plans, by shape. The runner gets a plan at the shape's first replay.
  using KeptPlans = std::vector<std::optional<std::uint32_t>>;

  const Task& task() const { return *task_; }
  const std::vector<TaskShape>& shapes() const { return shapes_; }
  const CallBuffers& buffers() const { return buffers_; }
  SetCache& sets() { return sets_; }
  Comparer& comparer() { return *comparer_; }
  Device& device() { return gpu_->device(); }
  /// The runner, or a new one with everything mapped again if it died.
  Result<Runner*> living_runner();
  /// The runner's number of the binary's plan at this shape.
  Result<std::uint32_t> kept(Runner& runner, const PlannedBinary& planned, std::size_t shape);
  Judged<PlannedBinaryPtr> plan(const CudaBinaryPtr& binary, const std::stop_token& stop) {
    return plans_->find_or_plan(binary, stop);
  }

 private:
  CudaHost(std::shared_ptr<const Task> task, std::shared_ptr<Gpu> gpu, std::shared_ptr<PlanCache> plans,
           CallBuffers buffers);
  Status move_in(Runner& runner);
  std::size_t compulsory_bytes(std::size_t shape) const;

  const std::shared_ptr<const Task> task_;
  const std::vector<TaskShape> shapes_;
  const std::shared_ptr<Gpu> gpu_;
  const std::shared_ptr<PlanCache> plans_;
  CallBuffers buffers_;
  SetCache sets_;
  std::unique_ptr<Comparer> comparer_;
  HostTraits traits_;
  std::uint64_t epoch_ = 0;                       ///< epoch of the runner in which everything is mapped
  std::list<std::pair<Digest, KeptPlans>> kept_;  ///< most recently used first
  double bytes_per_us_ = 0;                       ///< bandwidth of the device's memory; 0: not measured yet
};

}  // namespace kernelsmith::cuda

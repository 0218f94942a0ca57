// TaskPlanner: the plans of one task's candidates, for all of its workloads or for those at which a search
// evaluates.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

#include "extension/plan_with_builds.hpp"
#include "planner_pool.hpp"

namespace kernelsmith::torch {

/// Thread-safe, except for the functions that set something.
class TaskPlanner {
 public:
  /// `other_arch` is TorchOptions::arch.
  TaskPlanner(std::shared_ptr<const Task> task, std::shared_ptr<PlannerPool> pool,
              std::shared_ptr<BuildService> extensions, std::string other_arch);

  /// Sets the GPU's architecture: ten times major plus minor. Call it before the first plan.
  void plan_for(int arch) { arch_ = arch; }

  /// Sets the operators that the reference leaves to PyTorch, by workload. Call it before the first plan of a
  /// candidate.
  void compare_with(std::vector<std::map<std::string, double>> heavy) { heavy_ = std::move(heavy); }

  /// Sets the workloads that plan() plans; all, unless this is called.
  void plan_only(std::vector<std::size_t> workloads) { chosen_ = std::move(workloads); }

  const Task& task() const { return *task_; }

  Judged<Planned> plan_reference(const std::stop_token& stop) const;
  Judged<Planned> plan_everywhere(const Source& source, const std::stop_token& stop) const;
  Judged<Planned> plan(const Source& source, const std::stop_token& stop) const;

  /// The plan with all workloads. Adds the others to a plan of plan().
  Judged<PlanPtr> completed(const PlanPtr& plan, const std::stop_token& stop) const;

  /// The baseline's plan; null if the reference is the baseline. A baseline may leave everything to PyTorch.
  Judged<PlanPtr> plan_baseline(const std::stop_token& stop) const;

 private:
  Judged<Planned> plan_at(const Source& source, const std::vector<std::size_t>& workloads,
                          const std::stop_token& stop) const;
  Judged<Planned> plan_file(const SourceFile& file, const std::vector<std::size_t>& workloads,
                            const std::stop_token& stop) const;
  PlanRequest request_for(std::optional<SourceFile> file, std::vector<std::size_t> workloads) const;

  const std::shared_ptr<const Task> task_;
  const TorchSettings torch_;
  const std::vector<TorchWorkload> workloads_;
  std::vector<std::size_t> all_, chosen_;  ///< numbers of workloads
  std::vector<SourceFile> beside_;         ///< the files that the planner gets
  const std::shared_ptr<PlannerPool> pool_;
  const Builder builder_;
  const std::string other_arch_;
  int arch_;
  std::vector<std::map<std::string, double>> heavy_;  ///< by workload; empty if the reference has no plan
};

}  // namespace kernelsmith::torch

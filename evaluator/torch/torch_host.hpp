// TorchHost: the KernelHost of one task on one GPU. It uses the reference's process and the runners.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/kernel_host.hpp>

#include "planner_pool.hpp"
#include "reference_process.hpp"
#include "runner_pool.hpp"

namespace kernelsmith::torch {

/// The reference in its process: the yardstick, and the baseline unless the task has its own.
class Reference final : public Binary {};

/// The distribution of a plan's time, from the runner's own measurement of each operation.
struct Profile {
  double own_share = 0;   ///< share of the candidate's own kernels
  double peak_bytes = 0;  ///< peak device memory of a call; 0: unknown
  std::string table;      ///< all parts of a call in order, for people
  std::string longest;    ///< the longest parts, the longest first
};

class TorchHost final : public KernelHost {
 public:
  /// `process` is prepared and outlives the host. `runners` are already started; there may be none.
  TorchHost(ReferenceProcess& process, WorkerStart start, Spares runners, const ReferenceSettings& settings,
            DeviceFacts device, ReferenceFacts reference, bool sandboxed);

  HostTraits traits() const override { return traits_; }
  std::size_t capacity(std::size_t shape) const override { return at(shape).slots; }
  Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                              const std::stop_token& stop) override;
  void limit_calls(double call_s) override { call_s_ = call_s; }
  Result<double> least_us(std::size_t shape, const InputSet& set) override;

  /// A variant of a workload's inputs as a shape of the judge. Only original inputs are timed.
  struct Shape {
    std::size_t workload = 0, variant = 0;
  };
  const Shape& shape(std::size_t number) const { return shapes_[number]; }
  /// The facts of a shape's workload.
  const WorkloadFacts& at(std::size_t shape) const { return reference_.workloads[shapes_[shape].workload]; }

  /// The timed shapes, then the others.
  std::vector<TaskShape> shapes() const;

  /// The shapes for an evaluation of a search, which plans only these workloads: they are timed, and the
  /// variants of the smallest are checked.
  std::vector<std::size_t> shapes_of(const std::vector<std::size_t>& workloads) const;

  /// Seeds for a bank of these shapes.
  Result<Bank> draw_bank() const;

  /// Profiles a plan at a workload. Empty if its runner is not alive, or if profiling failed.
  std::optional<Profile> profile(const PlanPtr& plan, std::size_t workload, const std::stop_token& stop);

  /// Sets whether no other process has device memory. If none has, the candidate may use all that is left.
  void be_alone(bool alone) { alone_ = alone; }

  /// Sets the plan of the task's own baseline, which needs no kernel of its own.
  void set_baseline(PlanPtr plan) { baseline_ = std::move(plan); }

  /// Frees everything that the reference's process and the runners can make again.
  void release();

  /// The judge's clock. It stops while a runner starts, so that PyTorch's start is not counted for a
  /// candidate.
  double now_s() const;
  /// The total time for which runners started while they were needed.
  double waited_s() const { return runners_.waited_s(); }

  /// Does what the next runner can do without the device.
  void read_early(const std::stop_token& stop) { runners_.read_early(stop); }
  /// Starts runners that will be needed, without waiting.
  void start_spares(const std::stop_token& stop) { runners_.start_spares(stop); }

  // Functions for sessions.
  /// Loads the plan for a workload into a runner.
  Judged<void> load(const Plan& plan, std::size_t workload, TrustedProcess& runner,
                    const std::stop_token& stop);
  ReferenceProcess& reference_process() { return reference_process_; }
  const ReferenceFacts& reference() const { return reference_; }
  /// A runner's failure is the candidate's only if the reference still runs; otherwise the machine failed.
  Failure believed(const Failure& failure, const std::stop_token& stop);

 private:
  const bool wants_own_kernels_;
  ReferenceProcess& reference_process_;
  const ReferenceFacts reference_;
  std::vector<Shape> shapes_;
  RunnerPool runners_;
  HostTraits traits_;
  PlanPtr baseline_;   ///< null: the reference
  double call_s_ = 0;  ///< limit of the calls during loading
  bool alone_ = false;
};

/// The task's device memory and its plan; empty if the judge does not report it.
std::string memory_text(const ReferenceFacts& reference);

/// The rejection "no kernel of its own" of the policy own_kernels.
Failure no_own_kernels(Stage stage, const std::string& not_built = {});

}  // namespace kernelsmith::torch

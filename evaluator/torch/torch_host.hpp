// TorchHost: the KernelHost of one task on one GPU, over the reference's process and the runners'.
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

/// The reference itself, as its process runs it: the yardstick, and the baseline unless the task brings one.
class Reference final : public Binary {};

/// How a plan's time is shared out, by the runner's own look at each operation.
struct Profile {
  double own_share = 0;   ///< of the candidate's own kernels
  double peak_bytes = 0;  ///< of the device that a call has in use at once; 0: not known
  std::string table;      ///< for a person: all parts of a call, in order
  std::string longest;    ///< the parts that take most, the longest first
};

class TorchHost final : public KernelHost {
 public:
  /// `process` is prepared, and outlives the host. `runner` is one that was started ahead, or null.
  TorchHost(ReferenceProcess& process, WorkerStart start, Spares runners, const ReferenceSettings& settings,
            DeviceFacts device, ReferenceFacts reference, bool sandboxed);

  HostTraits traits() const override { return traits_; }
  std::size_t capacity(std::size_t) const override { return reference_.slots; }
  Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                              const std::stop_token& stop) override;
  void limit_calls(double call_s) override { call_s_ = call_s; }
  Result<double> least_us(std::size_t shape, const InputSet& set) override;

  /// The variants of the inputs as shapes; only the first, as given, is timed.
  std::vector<TaskShape> shapes() const;

  /// Seeds for a bank of these shapes.
  Result<Bank> draw_bank() const;

  /// The profile of a plan that was run and whose runner lives; empty if there is none, or it cannot tell.
  std::optional<Profile> profile(const PlanPtr& plan, const std::stop_token& stop);

  /// While nobody else has memory of the device, all that is left there is the candidate's.
  void be_alone(bool alone) { alone_ = alone; }

  /// The plan of the task's own baseline. It needs no kernel of its own.
  void set_baseline(PlanPtr plan) { baseline_ = std::move(plan); }

  /// Gives back what the reference's process and the runners can make again.
  void release();

  /// The judge's clock. It stands still while a runner starts: no candidate is slow because PyTorch is.
  double now_s() const;

  /// Starts runners that will be wanted, and waits for none.
  void start_spares() { runners_.start_spares(); }

  // For the sessions.
  ReferenceProcess& reference_process() { return reference_process_; }
  const ReferenceFacts& reference() const { return reference_; }
  /// What a runner did is believed only if the reference still runs: the machine could have failed.
  Failure believed(const Failure& failure, const std::stop_token& stop);

 private:
  const bool wants_own_kernels_;
  ReferenceProcess& reference_process_;
  const ReferenceFacts reference_;
  RunnerPool runners_;
  HostTraits traits_;
  PlanPtr baseline_;   ///< null: the reference
  double call_s_ = 0;  ///< of the calls that loading makes
  bool alone_ = false;
};

/// What the task needs of the device's memory, and how it lies there; empty if the judge does not say.
std::string memory_text(const ReferenceFacts& reference);

/// "No kernel of its own": what the policy own_kernels refuses.
Failure no_own_kernels(Stage stage, const std::string& not_built = {});

}  // namespace kernelsmith::torch

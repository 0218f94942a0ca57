// The KernelSessions of the torch backend: a candidate's plan in its runner, and the reference in the judge.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include <kernelsmith/evaluator/kernel_host.hpp>

#include "torch_host.hpp"

namespace kernelsmith::torch {

/// What both sessions have in common: the judge compares the outputs.
class ComparingSession : public KernelSession {
 public:
  Findings compare() override;
  Digest outputs() override { return outputs_; }

 protected:
  ComparingSession(TorchHost& host, std::stop_token stop) : host_(host), stop_(std::move(stop)) {}
  Findings findings_of(const Json& reply) const;
  /// A check that raises, or whose assertion ends the process, may be wrong itself: the Error if it fails for
  /// the reference's own outputs of the same batch, too.
  std::optional<Error> fault_of_check();
  /// The request to do something with the batch.
  Json request_for(const char* what) const;

  TorchHost& host_;
  const std::stop_token stop_;
  Batch batch_;
  Json outputs_are_;  ///< {"outbox": ...} or {"own": true}: a member of the request to compare

 private:
  Digest outputs_;
};

/// A plan in a runner, which holds the plan of one workload at a time.
class PlanSession final : public ComparingSession {
 public:
  PlanSession(TorchHost& host, PlanPtr plan, TrustedProcess& runner, std::stop_token stop)
      : ComparingSession(host, std::move(stop)), plan_(std::move(plan)), runner_(runner) {}
  /// Loads the plan of the batch's workload if the runner has another one. The outputs leave the runner's
  /// memory before anything else runs.
  Judged<double> run(const Batch& batch) override;

  /// Loads the plan of a workload unless the runner has it.
  Judged<void> load(std::size_t workload);

 private:
  const PlanPtr plan_;
  TrustedProcess& runner_;
  std::optional<std::size_t> loaded_;  ///< workload
};

/// The reference, eager or compiled as the task's baseline requires.
class ReferenceSession final : public ComparingSession {
 public:
  ReferenceSession(TorchHost& host, std::stop_token stop) : ComparingSession(host, std::move(stop)) {}
  Judged<double> run(const Batch& batch) override;
};

}  // namespace kernelsmith::torch

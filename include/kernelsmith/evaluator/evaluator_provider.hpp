// What a backend registers: how it describes itself, and the section `evaluator` of run.yaml that is its own.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include <kernelsmith/config/provider.hpp>
#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/gpu_profile.hpp>
#include <kernelsmith/evaluator/plain_verdict.hpp>

namespace kernelsmith {

/// Says what an evaluator waits for, in words for a person. Called on any thread; may be empty.
using TellOfWaiting = std::function<void(const std::string&)>;

/// Makes a backend's evaluator, and answers what is asked about candidates without one.
class EvaluatorProvider : public Provider<Evaluator> {
 public:
  /// What a candidate does at the first timed shape, for a person. Takes seconds. Errors: `refused` for a
  /// candidate that cannot be compiled or planned, `unsupported` if candidates are not planned.
  virtual Result<std::string> describe_plan(const Task& task, const Source& source) const;

  /// What the candidate launches at the first timed shape, and what bounds each launch as far as this machine
  /// can tell. Takes up to a minute. Errors: those of describe_plan; `cancelled`.
  virtual Result<GpuProfile> profile(const Task& task, const Source& source,
                                     const std::stop_token& stop) const;

  /// How the candidate does without us, on this machine and with the user's rights. Takes up to minutes.
  /// Errors: PlainVerdict's; `unsupported` for backends whose candidates are no programs by themselves.
  virtual Result<PlainVerdict> verify(const Task& task, const Source& source,
                                      const std::stop_token& stop) const;

  /// Evaluators made from now on say what they wait for: the memory of a GPU, the server of a fleet.
  virtual void tell_of_waiting(const TellOfWaiting&) {}

  /// Whether this machine evaluates: not if a fleet does.
  virtual bool is_local() const { return true; }
};

using MakeEvaluatorProvider = std::function<std::unique_ptr<EvaluatorProvider>()>;

/// A backend, as add_backend() (kernelsmith/session/registry.hpp) takes it: `cpu_backend()` and the like.
struct BackendRegistration {
  BackendDescription description;
  MakeEvaluatorProvider make;
  /// A maker of providers whose evaluators share what does not depend on the task, such as processes that
  /// have started. Empty if there is nothing to share.
  std::function<MakeEvaluatorProvider()> make_sharing = {};
};

}  // namespace kernelsmith

// What a backend registers: its description and its keys of the section `evaluator` of run.yaml.
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

/// Reports to people what an evaluator waits for. Called on any thread; may be empty.
using TellOfWaiting = std::function<void(const std::string&)>;

/// Makes a backend's evaluator. Answers some questions about candidates without making it.
class EvaluatorProvider : public Provider<Evaluator> {
 public:
  /// Describes for people what a candidate does at the first timed shape. Takes seconds. Errors: `refused`
  /// for a candidate that cannot be compiled or planned, `unsupported` if candidates are not planned.
  virtual Result<std::string> describe_plan(const Task& task, const Source& source) const;

  /// The candidate's launches at the first timed shape, and what limits the speed of each if this machine can
  /// measure it. Takes up to a minute. Errors: those of describe_plan; `cancelled`.
  virtual Result<GpuProfile> profile(const Task& task, const Source& source,
                                     const std::stop_token& stop) const;

  /// Tests the candidate without kernelsmith, on this machine and with the user's rights. Takes up to
  /// minutes. Errors: PlainVerdict's; `unsupported` for backends whose candidates are not programs.
  virtual Result<PlainVerdict> verify(const Task& task, const Source& source,
                                      const std::stop_token& stop) const;

  /// From now on make() fails with `unsupported` if candidates could be checked here, but not measured. A
  /// search asks for this, because otherwise it would pay for a model's first answers.
  virtual void require_measuring() {}

  /// Evaluators that are made from now on report what they wait for, such as the memory of a GPU or the
  /// server of a fleet.
  virtual void tell_of_waiting(const TellOfWaiting&) {}

  /// Whether this machine evaluates. False if a fleet evaluates.
  virtual bool is_local() const { return true; }
};

using MakeEvaluatorProvider = std::function<std::unique_ptr<EvaluatorProvider>()>;

/// A backend in the form that add_backend() (kernelsmith/session/registry.hpp) takes. `cpu_backend()` and
/// similar functions return one.
struct BackendRegistration {
  BackendDescription description;
  MakeEvaluatorProvider make;
  /// Makes providers whose evaluators share what does not depend on the task, such as started processes.
  /// Empty if there is nothing to share.
  std::function<MakeEvaluatorProvider()> make_sharing = {};
};

}  // namespace kernelsmith

// PlannerPool: runs candidates' host code in a sandbox without a GPU to get plans of their calls. A planner
// is warm: importing PyTorch takes seconds and happens once for many candidates.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "wire.hpp"

namespace kernelsmith::torch {

/// A candidate's operations in a call, for each workload of its task: operators and launches with the cubins
/// (docs/torch-plan.md). Immutable.
class Plan final : public Binary {
 public:
  explicit Plan(std::string bytes) : Plan(std::vector{std::move(bytes)}) {}
  /// `parts` are by workload; an empty one is not planned. `source` is the candidate's file.
  explicit Plan(std::vector<std::string> parts, SourceFile source = {});
  std::optional<Digest> exact_bytes() const override { return digest_; }

  const std::string& bytes(std::size_t workload = 0) const { return parts_[workload]; }
  const std::vector<std::string>& parts() const { return parts_; }
  const SourceFile& source() const { return source_; }
  const Digest& digest() const { return digest_; }

 private:
  std::vector<std::string> parts_;
  SourceFile source_;
  Digest digest_;
};
using PlanPtr = std::shared_ptr<const Plan>;

/// A plan, with the planner's data about it.
struct Planned {
  PlanPtr plan;
  /// The fewest launches of any workload, and the most of everything else.
  std::map<std::string, double> figures;
  /// By workload, the counts of a call's operators without elementwise ones, by name; empty if it was not
  /// planned.
  std::vector<std::map<std::string, double>> heavy;
  std::string text;       ///< description for people
  std::string not_built;  ///< extensions that do not compile, with the reasons
  double build_ms = 0;    ///< time for building extensions
  double asked_ms = 0;    ///< wall time of the planner
  Json wanted;            ///< extensions to build before the candidate can be planned; the rest is then unset
};

/// The versions that planners use.
struct PlannerFacts {
  std::string python, torch, triton;
  bool cuda_build = false;

  /// Such as "PyTorch 2.11.0, Triton 3.6.0, Python 3.11.2".
  std::string words() const;
};

/// The number of planners, from 2 to 16: one for every core but two, which the processes on the GPU use. Each
/// uses a core while it compiles, and keeps PyTorch in memory.
std::size_t planners_for_this_machine();

struct PlannerLimits {
  double start_s = 300;  ///< for importing PyTorch: a cold disk takes minutes
  double plan_s = 60;    ///< CPU time: Triton compiles a kernel in a second, and there may be dozens
  /// Wall time as a multiple of `plan_s`, as in the planner (_LONGEST), because others use the processors,
  /// too.
  double longest = 4;
  double grace_s = 10;  ///< additional time for the planner to end a candidate by itself
  std::size_t most_plan_bytes = std::size_t{64} << 20;
  std::size_t most = planners_for_this_machine();  ///< planners at the same time
  std::size_t lifetime = 200;  ///< candidates of one planner: few, so that leftovers do not accumulate
};

/// The input of planning: a candidate, or the reference's own model if `candidate` is empty.
struct PlanRequest {
  std::string reference;
  std::optional<SourceFile> candidate;
  int arch = 90;      ///< of the GPU: ten times major plus minor
  bool cast = false;  ///< TorchSettings::cast
  /// The candidate's built extensions (docs/torch-plan.md); their bytes are in `blob`.
  Json builds = Json::object();
  std::string blob{};
  std::string other_arch{};  ///< TorchOptions::arch; replaces `arch` unless empty
  /// The task's workloads; the one without a name is that of a task without `workloads`.
  std::vector<TorchWorkload> workloads{1};
  std::vector<std::size_t> chosen{0};  ///< those to plan
  std::vector<SourceFile> files{};     ///< beside the reference, which may read them
};

/// Thread-safe.
class PlannerPool {
 public:
  using Start = std::function<Result<PythonProcess>()>;
  PlannerPool(Start start, PlannerLimits limits) : start_(std::move(start)), limits_(limits) {}

  /// Gets the versions from a planner; starts one if there is none. Errors: tool_missing, with Python's
  /// message; cancelled.
  Result<PlannerFacts> facts(const std::stop_token& stop);

  /// A Rejection at the stages compile and plan is the candidate's fault.
  Judged<Planned> plan(const PlanRequest& request, const std::stop_token& stop);

  /// The wall time that a candidate may use in planners and in compilers for its extensions.
  double longest_s() const { return limits_.longest * limits_.plan_s; }

 private:
  struct Planner {
    PythonProcess process;
    std::size_t served = 0;
  };

  Result<Planner> take(const std::stop_token& stop);
  Result<Planner> start_one(const std::stop_token& stop);
  /// Takes back a planner, dead or reusable.
  void give_back(std::optional<Planner> planner);

  const Start start_;
  const PlannerLimits limits_;
  Mutex mutex_;
  StoppableCondition changed_;
  std::vector<Planner> idle_ KERNELSMITH_GUARDED_BY(mutex_);
  std::size_t alive_ KERNELSMITH_GUARDED_BY(mutex_) = 0;  ///< idle and busy ones
  std::optional<PlannerFacts> facts_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::torch

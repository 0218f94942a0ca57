// PlannerPool: candidates' host code in a sandbox without a GPU, asked for what a call of it does. A planner
// is warm: PyTorch takes seconds to import, and is imported once for many candidates.
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
#include <kernelsmith/evaluator/verdict.hpp>

#include "wire.hpp"

namespace kernelsmith::torch {

/// What a candidate does in a call: operators and launches with the cubins (docs/torch-plan.md). Immutable.
class Plan final : public Binary {
 public:
  explicit Plan(std::string bytes) : bytes_(std::move(bytes)), digest_(digest_of(bytes_)) {}
  std::optional<Digest> exact_bytes() const override { return digest_; }

  const std::string& bytes() const { return bytes_; }
  const Digest& digest() const { return digest_; }

 private:
  std::string bytes_;
  Digest digest_;
};
using PlanPtr = std::shared_ptr<const Plan>;

/// A plan, and what its planner says of it.
struct Planned {
  PlanPtr plan;
  std::map<std::string, double> figures;  ///< launches, aten_ops, registers, ...
  std::map<std::string, double> heavy;    ///< operators of a call that are no elementwise ones, by name
  std::string text;                       ///< for a person
  std::string not_built;                  ///< extensions that do not compile, and why
  double build_ms = 0;                    ///< what building extensions took
  double asked_ms = 0;                    ///< what the planner took, by the clock
  Json wanted;  ///< in place of all that: what must be built before the candidate can be planned
};

/// The versions that plans are made with.
struct PlannerFacts {
  std::string python, torch, triton;
  bool cuda_build = false;

  /// "PyTorch 2.11.0, Triton 3.6.0, Python 3.11.2"
  std::string words() const;
};

/// Each takes a core while it compiles, and holds PyTorch in memory: one for every two cores, from 2 to 8.
std::size_t planners_for_this_machine();

struct PlannerLimits {
  double start_s = 300;  ///< to import PyTorch: a cold disk takes minutes
  double plan_s = 60;  ///< of processors' work: Triton compiles a kernel in a second, and there may be dozens
  double longest = 4;  ///< times `plan_s` by the clock, as the planner has it (_LONGEST): others work on the
                       ///< processors, too
  double grace_s = 10;  ///< beyond that, for the planner to end a candidate by itself
  std::size_t most_plan_bytes = std::size_t{64} << 20;
  std::size_t most = planners_for_this_machine();  ///< at once
  std::size_t lifetime = 200;  ///< candidates of a planner: what it keeps of them must not add up
};

/// What is planned: a candidate's text, or the reference's own model if there is none.
struct PlanRequest {
  std::string reference;
  std::optional<SourceFile> candidate;
  int arch = 90;      ///< of the GPU: ten times major plus minor
  bool cast = false;  ///< TorchSettings::cast
  /// Extensions that were built for it (docs/torch-plan.md), whose bytes are in `blob`.
  Json builds = Json::object();
  std::string blob{};
  std::string other_arch{};  ///< TorchOptions::arch: in place of `arch`, unless it is empty
};

/// Thread-safe.
class PlannerPool {
 public:
  using Start = std::function<Result<PythonProcess>()>;
  PlannerPool(Start start, PlannerLimits limits) : start_(std::move(start)), limits_(limits) {}

  /// Facts from a planner that answers; starts one if there is none. Errors: tool_missing, with what Python
  /// said; cancelled.
  Result<PlannerFacts> facts(const std::stop_token& stop);

  /// A Rejection at the stages compile and plan is the candidate's fault.
  Judged<Planned> plan(const PlanRequest& request, const std::stop_token& stop);

  /// By the clock, which a candidate may take of planners and of compilers for its extensions.
  double longest_s() const { return limits_.longest * limits_.plan_s; }

 private:
  struct Planner {
    PythonProcess process;
    std::size_t served = 0;
  };

  Result<Planner> take(const std::stop_token& stop);
  Result<Planner> start_one(const std::stop_token& stop);
  /// Takes back a planner that is kept for others, or a dead one.
  void give_back(std::optional<Planner> planner);

  const Start start_;
  const PlannerLimits limits_;
  Mutex mutex_;
  StoppableCondition changed_;
  std::vector<Planner> idle_ KERNELSMITH_GUARDED_BY(mutex_);
  std::size_t alive_ KERNELSMITH_GUARDED_BY(mutex_) = 0;  ///< idle and at work
  std::optional<PlannerFacts> facts_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::torch

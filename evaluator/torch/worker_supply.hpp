// WorkerSupply: processes that evaluators of successive tasks share, because importing PyTorch takes seconds.
// Planners fork for each candidate and serve any task. A worker has one task for its whole life, so that a
// reference's effects on its process do not reach another task. Workers of all tasks are forked from one warm
// process.
#pragma once

#include <compare>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include <kernelsmith/core/mutex.hpp>

#include "extension/build_service.hpp"
#include "planner_pool.hpp"
#include "trusted_process.hpp"

namespace kernelsmith::torch {

/// The sources of an evaluator's processes. A value.
struct ProcessSources {
  std::shared_ptr<PlannerPool> planners;
  WorkerStart start;
  std::shared_ptr<BuildService> extensions{};
};

/// Thread-safe. Idle processes end with this object.
class WorkerSupply {
 public:
  /// Evaluators share sources only if all of this is equal.
  struct Key {
    std::filesystem::path python;
    int device = 0;
    bool unsandboxed = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  /// The sources for this key. The first call makes them with `make`.
  ProcessSources get(const Key& key, const std::function<ProcessSources()>& make);

 private:
  Mutex mutex_;
  std::map<Key, ProcessSources> sources_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::torch

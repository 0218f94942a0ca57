// WorkerSupply: processes that evaluators of successive tasks share, because importing PyTorch takes seconds.
// Planners fork for each candidate and serve any task. A worker has one task for its whole life, so that a
// reference's effects on its process do not reach another task. So one worker of each role is started in
// advance for the next task.
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

/// Starts one worker of each role in advance. Thread-safe.
class SpareWorkers {
 public:
  explicit SpareWorkers(WorkerStart start) : start_(std::move(start)) {}

  /// Takes the worker that was started in advance, or a new one if it died, and starts the next.
  Result<PythonProcess> start(Role role);

 private:
  const WorkerStart start_;
  Mutex mutex_;
  std::map<Role, PythonProcess> spares_ KERNELSMITH_GUARDED_BY(mutex_);
};

/// The sources of an evaluator's processes. A value.
struct ProcessSources {
  std::shared_ptr<PlannerPool> planners;
  WorkerStart start;
  std::shared_ptr<BuildService> extensions{};
};

/// Thread-safe. Spares end with this object.
class WorkerSupply {
 public:
  /// Evaluators share sources only if all of this is equal.
  struct Key {
    std::filesystem::path python;
    int device = 0;
    bool unsandboxed = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  /// The sources for this key, with spares. The first call makes them with `make`.
  ProcessSources get(const Key& key, const std::function<ProcessSources()>& make);

 private:
  Mutex mutex_;
  std::map<Key, ProcessSources> sources_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::torch

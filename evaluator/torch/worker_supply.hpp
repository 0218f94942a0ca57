// WorkerSupply: what the evaluators of one task after another share, because PyTorch takes seconds to import.
// Planners fork for each candidate, and serve any task. A worker holds one task for its whole life: nothing
// that a reference did to its process reaches another task. So of each role one worker is started ahead for
// the task that follows.
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

/// Starts workers of each role one ahead. Thread-safe.
class SpareWorkers {
 public:
  explicit SpareWorkers(WorkerStart start) : start_(std::move(start)) {}

  /// The one that was started ahead, or a new one if it died; the next one then starts.
  Result<PythonProcess> start(Role role);

 private:
  const WorkerStart start_;
  Mutex mutex_;
  std::map<Role, PythonProcess> spares_ KERNELSMITH_GUARDED_BY(mutex_);
};

/// Where an evaluator gets its processes from. A value.
struct ProcessSources {
  std::shared_ptr<PlannerPool> planners;
  WorkerStart start;
  std::shared_ptr<BuildService> extensions{};
};

/// Thread-safe. Spares end with it.
class WorkerSupply {
 public:
  /// Each has sources of its own.
  struct Key {
    std::filesystem::path python;
    int device = 0;
    bool unsandboxed = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  /// The sources for this key, with spares. `make` makes them the first time.
  ProcessSources get(const Key& key, const std::function<ProcessSources()>& make);

 private:
  Mutex mutex_;
  std::map<Key, ProcessSources> sources_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::torch

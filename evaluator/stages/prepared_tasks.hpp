// PreparedTasks: the tasks that an evaluator serves, by digest, and those of them that are ready to be run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>

#include "binary_cache.hpp"

namespace kernelsmith::stages {

/// A task that is ready, with its binaries: flags are the task's, so each has a cache of its own.
struct PreparedTask {
  PreparedTask(std::shared_ptr<const Task> of, std::shared_ptr<Backend> by, std::size_t cached_binaries)
      : task(std::move(of)), backend(std::move(by)), binaries(cached_binaries) {}

  const std::shared_ptr<const Task> task;
  const std::shared_ptr<Backend> backend;
  BinaryCache binaries;
};
using PreparedTaskPtr = std::shared_ptr<PreparedTask>;

/// Thread-safe.
class PreparedTasks {
 public:
  /// At most `options.prepared_tasks` are ready at a time; what is in use beyond that lives until its jobs
  /// are done.
  PreparedTasks(BackendFactory make_backend, const EvaluatorOptions& options)
      : make_backend_(std::move(make_backend)), options_(options) {}

  void add(std::shared_ptr<const Task> task);

  /// Null if the task has to be prepared first, or is not known.
  PreparedTaskPtr find(const Digest& task);

  /// Prepares it, once for all callers; the others wait. A failure is returned and forgotten. Errors:
  /// `invalid_argument` for a task that was not added, and the factory's.
  Result<PreparedTaskPtr> prepare(const Digest& task);

 private:
  struct Entry {
    std::shared_ptr<const Task> task;
    std::mutex preparing;
    PreparedTaskPtr ready;       // guarded by mutex_
    std::uint64_t last_use = 0;  // guarded by mutex_
  };
  using EntryPtr = std::shared_ptr<Entry>;

  EntryPtr entry_of(const Digest& task);
  PreparedTaskPtr use(Entry& entry);
  void make_room();

  const BackendFactory make_backend_;
  const EvaluatorOptions options_;
  std::mutex mutex_;
  std::unordered_map<Digest, EntryPtr> entries_;
  std::uint64_t uses_ = 0;
};

}  // namespace kernelsmith::stages

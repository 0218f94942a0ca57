// TaskSource: gets tasks from the server; jobs name them by their digests.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/prepared_tasks.hpp>

#include "bus.hpp"

namespace kernelsmith::fleet {

/// Thread-safe. Must outlive its prepared tasks, because the destructor deletes the copies of Python
/// evaluators.
class TaskSource {
 public:
  TaskSource(Bus& bus, std::string backend) : bus_(bus), backend_(std::move(backend)) {}
  ~TaskSource();
  TaskSource(const TaskSource&) = delete;
  TaskSource& operator=(const TaskSource&) = delete;

  /// The task, from the server unless it is in use. Errors: `not_found` (the server has no such task),
  /// decode_task()'s, and `bad_input` (a task of another backend).
  Result<TaskPtr> task_of(const Digest& task, const std::stop_token& stop);

 private:
  Result<TaskPtr> fetch(const Digest& task, const std::stop_token& stop) KERNELSMITH_REQUIRES(mutex_);
  Status bring_evaluator(Task& task) KERNELSMITH_REQUIRES(mutex_);

  Bus& bus_;
  const std::string backend_;
  Mutex mutex_;
  std::map<Digest, std::weak_ptr<const Task>> known_ KERNELSMITH_GUARDED_BY(mutex_);
  std::filesystem::path folder_
      KERNELSMITH_GUARDED_BY(mutex_);  // holds the copies of evaluators; empty if there are none
};

}  // namespace kernelsmith::fleet

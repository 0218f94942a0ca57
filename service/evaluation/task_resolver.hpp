// TaskResolver: finds the task and the candidate of a request.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/prepared_tasks.hpp>

#include "request.hpp"

namespace kernelsmith::service {

struct Assignment {
  TaskPtr task;
  Source candidate;
};

/// Makes one task for each distinct reference text; requests share it while it is in use. Thread-safe.
class TaskResolver {
 public:
  /// `named` are chosen by name. `precision` is TorchSettings::precision for tasks made from references.
  TaskResolver(std::vector<TaskPtr> named, Backends backends, std::string precision);

  /// Errors: bad_input, with the request's field as `where`.
  Result<Assignment> assign(const EvaluationRequest& request);

  std::vector<std::string> names() const;

 private:
  Result<TaskPtr> named_task(const std::string& name) const;
  Result<TaskPtr> task_of_reference(const EvaluationRequest& request);

  const std::map<std::string, TaskPtr> named_;
  const Backends backends_;
  const std::string precision_;
  Mutex mutex_;
  std::map<Digest, std::weak_ptr<const Task>> made_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::service

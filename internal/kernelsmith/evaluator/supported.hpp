// Checks with which backends refuse a task before they prepare it, so that nothing that the task declares is
// ignored.
#pragma once

#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Errors: unsupported, if the task is for another backend.
inline Status check_backend(const Task& task, const std::string& backend) {
  if (task.backend == backend) return {};
  return fail(ErrorCode::unsupported,
              "the task '" + task.name + "' is for the backend '" + task.backend + "'");
}

/// Errors: unsupported if the task asks that its operations also bound the speed.
inline Status check_bounded_by_bytes(const Task& task) {
  if (!task.declared.operations_are_minimal) return {};
  return fail(ErrorCode::unsupported,
              "the " + task.backend + " backend cannot bound the speed by the number of operations",
              "declared: operations_are_minimal", "leave it out: the bytes bound the speed");
}

}  // namespace kernelsmith

// Reads the list `tensors` of a task.yaml.
#pragma once

#include <vector>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

namespace kernelsmith::task {

/// Appends the tensor that `in` describes, checked at the default `sizes`. `backend` is null if the supported
/// dtypes are unknown.
void read_tensor(YamlMap& in, const Sizes& sizes, const BackendDescription* backend,
                 std::vector<TensorSpec>& tensors);

/// Refuses (`bad_input`) an `init` that has no values at these sizes: an empty range, descending offsets,
/// numbers outside the dtype's range.
Status check_init(const TensorSpec& tensor, const TensorExtent& extent, const Sizes& sizes);

/// Refuses sizes at which a tensor has an invalid extent or no values.
Status check_tensors(const Task& task, const Sizes& sizes);

}  // namespace kernelsmith::task

// The concrete shapes of a task's tensors at given sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// One tensor at concrete sizes.
struct TensorExtent {
  std::vector<std::int64_t> shape;
  std::size_t elements = 0;
  std::size_t bytes = 0;

  friend bool operator==(const TensorExtent&, const TensorExtent&) = default;
};

/// Larger tensors are refused, so that a typo in a size does not fill the memory.
inline constexpr std::size_t kMaxTensorBytes = std::size_t{4} << 30;

/// Refuses (`bad_input`) a dimension that cannot be evaluated, is below 1, or makes the tensor larger than
/// kMaxTensorBytes.
Result<TensorExtent> extent_of(const TensorSpec& tensor, const Sizes& sizes);

/// The extents of all of the task's tensors, in order.
Result<std::vector<TensorExtent>> extents_of(const Task& task, const Sizes& sizes);

}  // namespace kernelsmith

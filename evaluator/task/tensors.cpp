#include <string>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

namespace kernelsmith {

Result<TensorExtent> extent_of(const TensorSpec& tensor, const Sizes& sizes) {
  TensorExtent extent;
  extent.elements = 1;
  for (const std::string& dimension : tensor.shape) {
    const auto value = evaluate_expression(dimension, sizes);
    if (!value) return value.error();
    if (*value < 1)
      return fail(ErrorCode::bad_input, "dimension '" + dimension + "' of tensor '" + tensor.name + "' is " +
                                            std::to_string(*value) + " at " + describe(sizes) +
                                            ", and must be at least 1");
    extent.shape.push_back(*value);
    if (__builtin_mul_overflow(extent.elements, static_cast<std::size_t>(*value), &extent.elements) ||
        extent.elements > kMaxTensorBytes / bytes_of(tensor.dtype))
      return fail(ErrorCode::bad_input,
                  "tensor '" + tensor.name + "' is larger than 4 GiB at " + describe(sizes));
  }
  extent.bytes = extent.elements * bytes_of(tensor.dtype);
  return extent;
}

Result<std::vector<TensorExtent>> extents_of(const Task& task, const Sizes& sizes) {
  std::vector<TensorExtent> extents;
  for (const TensorSpec& tensor : task.tensors) {
    auto extent = extent_of(tensor, sizes);
    if (!extent) return extent.error();
    extents.push_back(std::move(*extent));
  }
  return extents;
}

}  // namespace kernelsmith

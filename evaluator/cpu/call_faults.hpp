// What is said of calls and outputs that break a rule.
#pragma once

#include <cstddef>
#include <string>

#include <kernelsmith/core/task.hpp>

#include "bank.hpp"
#include "check.hpp"
#include "judged.hpp"

namespace kernelsmith {

/// "cols=33 rows=65", or words for a shape without a name.
std::string where(const TaskShape& shape);

/// A failure of calls, with the shape where it is the kernel's.
Failure in_a_call(const Failure& failure, const TaskShape& shape);

/// Memory beside the output was written.
Failure outside(const TaskShape& shape, const TensorSpec& tensor);

/// The comparison with what is expected found a fault in an output of these dimensions.
Failure wrong(const CheckResult& result, const Expected& expected, const TaskShape& shape,
              const TensorSpec& tensor, const TensorExtent& extent);

/// A call wrote to an input that it could write to.
Failure modified(const TaskShape& shape, const TensorSpec& tensor);

/// An output changed after its call was said to be done.
Failure written_later(const TaskShape& shape, const TensorSpec& tensor);

/// Two processes wrote different bytes for the same inputs.
Failure differing(const TaskShape& shape, const TensorSpec& tensor);

}  // namespace kernelsmith

// Finds the kind of function of a task's reference: the scale of its errors, and the number of terms that its
// outputs sum. It queries the oracle with inputs of a fixed key, so that the answer is always the same.
#pragma once

#include <vector>

#include <kernelsmith/evaluator/oracle.hpp>

#include "truth/budget.hpp"

namespace kernelsmith::truth {

struct Nature {
  Scale scale = Scale::sensitivity;
  std::vector<std::vector<double>> terms;  ///< by shape and tensor

  friend bool operator==(const Nature&, const Nature&) = default;
};

/// `oracles.wide` must not be null. Errors: the oracle's; bad_input if `declared: accumulate` cannot be
/// evaluated.
Result<Nature> probe(const Task& task, const std::vector<TaskShape>& shapes, Oracles& oracles);

}  // namespace kernelsmith::truth

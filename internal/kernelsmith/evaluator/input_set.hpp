// InputSet: the inputs of one call and the expected outputs. A bank of these is made once per task and run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kernelsmith/evaluator/bank_limits.hpp>
#include <kernelsmith/evaluator/expected.hpp>
#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith {

/// If the host draws the sets (JudgeParts::draw_bank), only `seed` has a value.
struct InputSet {
  InputRecipe recipe;
  Inputs inputs;
  std::vector<Expected> outputs;  ///< one for each tensor; unused for tensors of role `in`
  std::uint64_t seed = 0;         ///< secret seed of a set that the host draws
};

/// The sets of each shape.
using Bank = std::vector<std::vector<InputSet>>;

}  // namespace kernelsmith

// InputSet: the inputs of one call and what must come of them. A bank of these is made once per task and run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kernelsmith/evaluator/bank_limits.hpp>
#include <kernelsmith/evaluator/expected.hpp>
#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith {

/// A host that draws sets by itself (JudgeParts::draw_bank) knows one by its seed, and the rest is empty.
struct InputSet {
  InputRecipe recipe;
  Inputs inputs;
  std::vector<Expected> outputs;  ///< by tensor; unused for tensors of role `in`
  std::uint64_t seed = 0;         ///< secret; of a set that the host draws
};

/// By shape, the sets of each.
using Bank = std::vector<std::vector<InputSet>>;

}  // namespace kernelsmith

// Queries to an oracle: with a call's original or changed inputs.
#pragma once

#include <cstddef>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith::truth {

/// The change of the inputs.
struct Change {
  enum Kind {
    none,
    absolute,
    perturb,        ///< all reals, relatively, by a uniform number of standard deviation `step`
    perturb_a_few,  ///< one in kOneOf of the reals, by `step`; of the integers, to the left neighbour's value
  };
  Kind kind = none;
  double step = 0;
};
inline constexpr std::size_t kOneOf = 64;

/// Whether the tensor's reals may be perturbed, unlike exact numbers such as indices in a table.
bool is_perturbed(const TensorSpec& tensor);

/// Whether the tensor is an output that has an error budget unless outputs are compared bit for bit.
bool has_budget(const TensorSpec& tensor);

/// The step for computing D: 2^-20, or 2^-11 if reals are whole numbers, because a function may jump at these
/// (a floor, a comparison) even for the smallest step.
double step_for_sensitivity(const Task& task);

/// Queries the oracle. All changes except `none` need an oracle that is not in declared precision. Errors:
/// the oracle's.
Status ask(const Task& task, Oracle& oracle, std::size_t shape, const Inputs& inputs, const Change& change,
           SecretStream& random);

/// The inputs, perturbed and rounded to their dtypes.
Inputs perturbed(const Task& task, Inputs inputs, double step, SecretStream& random);

}  // namespace kernelsmith::truth

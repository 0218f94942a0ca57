// What an oracle is asked: about a call's inputs as they are, or changed.
#pragma once

#include <cstddef>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith::truth {

/// What is done to the inputs.
struct Change {
  enum Kind {
    none,
    absolute,
    perturb,        ///< all reals, relatively, by a uniform number of standard deviation `step`
    perturb_a_few,  ///< one in kOneOf of the reals by `step`; of the integers, to their left neighbour's
                    ///< value
  };
  Kind kind = none;
  double step = 0;
};
inline constexpr std::size_t kOneOf = 64;

/// Whether the tensor's reals stand for anything but exact numbers, such as places in a table.
bool is_perturbed(const TensorSpec& tensor);

/// Whether the tensor is written, and has an error budget if outputs are not compared bit for bit.
bool has_budget(const TensorSpec& tensor);

/// The step by which D is found: 2^-20; 2^-11 if reals are whole numbers, since a function can jump at
/// these (a floor, a comparison), and the smallest step makes all of the jump.
double step_for_sensitivity(const Task& task);

/// Has the oracle answer; all changes but `none` need one that is not in declared precision. Errors: the
/// oracle's.
Status ask(const Task& task, Oracle& oracle, std::size_t shape, const Inputs& inputs, const Change& change,
           SecretStream& random);

/// The inputs, perturbed and rounded to their dtypes.
Inputs perturbed(const Task& task, Inputs inputs, double step, SecretStream& random);

}  // namespace kernelsmith::truth

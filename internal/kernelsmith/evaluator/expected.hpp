// The expected value of an output, and its comparison with the actual one, as a whole or in parts for several
// threads. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/bytes.hpp>

namespace kernelsmith {

/// One output of one call (docs/tolerance.md).
struct Expected {
  Dtype dtype = Dtype::f32;
  bool exact = false;       ///< the bits must be equal; then only `values` and `steps` are used
  bool per_element = true;  ///< false: only the RMS is judged (policy normwise)
  Bytes values;             ///< the truth, elements of `dtype`
  /// For reals, one for each element: 1 / (its tolerance). 0 if the truth is not finite, or if the truth and
  /// the reference in its own precision disagree on whether it is finite; then a kernel may write anything
  /// (an infinite truth is recorded as 0).
  Bytes weights;
  bool wide_weights = false;  ///< weights are doubles, else floats
  double rms_limit = 1;       ///< limit of the RMS of error * weight over the judged elements
  std::size_t judged = 0;     ///< elements with a finite truth
  /// For integers made from reals, a byte for each element: 1 if the value may be one more or less, because
  /// its real is within the budget of a step. Empty: nowhere.
  Bytes steps;
  /// How many other elements may be one step off, because steps are found by sampling.
  std::size_t more_steps = 0;
};

enum class Fault { none, wrong, not_finite, not_written };

/// The elements with one fault.
struct Tally {
  std::size_t count = 0;
  std::size_t first = 0;  ///< index of the first of them in the whole output

  void add(std::size_t index) {
    if (count++ == 0) first = index;
  }
};

/// An element is counted in at most one tally, by its worst fault.
struct Faults {
  Tally wrong;  ///< beyond its budget
  Tally not_finite;
  Tally not_written;
};

/// The findings in a part of an output.
struct PartFindings {
  Faults faults;
  std::size_t other_steps = 0;  ///< one step off without permission by `Expected::steps`
  double worst = 0;             ///< the worst error over its budget
  std::size_t worst_at = 0;     ///< its index; for integers, the first of the other steps
  double squares = 0;           ///< the sum of the errors' squares
};

/// How an output differs from what was expected.
struct CompareResult {
  Fault fault = Fault::none;  ///< the worst fault
  Faults faults;
  double error = 0;          ///< the larger of the worst error over its budget and the RMS over its limit
  double worst = 0;          ///< the worst error over its budget, of reals that are judged one by one
  std::size_t worst_at = 0;  ///< the element with the largest error; for worse faults and integers the first
};

/// Compares one of `parts` parts of the whole output `actual`. NaN and infinities must equal the truth; other
/// values must be within the budget. `poison` is the buffer's pattern of 32 bits before the call.
PartFindings look_through(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison,
                          std::size_t part, std::size_t parts);

/// Combines the findings in all parts of an output.
CompareResult conclude(const Expected& expected, std::span<const PartFindings> parts);

/// Does both for a single part.
CompareResult compare_output(const Expected& expected, std::span<const std::byte> actual,
                             std::uint32_t poison);

/// The tolerance of element `i`: infinite if it is not judged; for integers 1 or 0.
double allowed_error(const Expected& expected, std::size_t i);

/// Whether every byte is still the poison, 32 bits repeated from the first byte on.
bool untouched(std::span<const std::byte> bytes, std::uint32_t poison);

}  // namespace kernelsmith

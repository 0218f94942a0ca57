// The expected value of an output, and functions that compare it with the actual output: as a whole, or in
// parts for several threads. The functions are pure.
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
  bool exact = false;       ///< the bits must be equal, and only `values` and `steps` are used
  bool per_element = true;  ///< if false, only the RMS is judged (policy normwise)
  Bytes values;             ///< the truth, as elements of `dtype`
  /// For reals: 1 / tolerance of each element. It is 0 if the truth is not finite. It is also 0 if the truth
  /// and the reference in its own precision disagree on whether the element is finite; then a kernel may
  /// write anything there (an infinite truth is recorded as 0).
  Bytes weights;
  bool wide_weights = false;  ///< weights are doubles, else floats
  double rms_limit = 1;       ///< limit of the RMS of error * weight over the judged elements
  std::size_t judged = 0;     ///< elements with a finite truth
  /// For integers that are computed from reals: a byte for each element. It is 1 if the value may be one more
  /// or less, because its real is so near a step that the budget reaches it. If empty, that is allowed
  /// nowhere.
  Bytes steps;
  /// How many other elements may be wrong by one step. Some are allowed because steps are found by sampling.
  std::size_t more_steps = 0;
};

enum class Fault { none, wrong, not_finite, not_written };

/// The elements with one fault.
struct Tally {
  std::size_t count = 0;
  std::size_t first = 0;  ///< index in the whole output of the first of these elements

  void add(std::size_t index) {
    if (count++ == 0) first = index;
  }
};

/// An element is counted in at most one tally, by its worst fault.
struct Faults {
  Tally wrong;  ///< outside of its budget
  Tally not_finite;
  Tally not_written;
};

/// The findings in a part of an output.
struct PartFindings {
  Faults faults;
  std::size_t other_steps = 0;  ///< wrong by one step where `Expected::steps` does not allow it
  double worst = 0;             ///< the largest error / budget
  std::size_t worst_at = 0;     ///< the index of that element; for integers, of the first of `other_steps`
  double squares = 0;           ///< the sum of the errors' squares
};

/// How an output differs from what was expected.
struct CompareResult {
  Fault fault = Fault::none;  ///< the worst fault
  Faults faults;
  double error = 0;          ///< max(largest error / budget, RMS / limit)
  double worst = 0;          ///< the largest error / budget of reals that are judged one by one
  std::size_t worst_at = 0;  ///< the element with the largest error; for worse faults and integers the first
                             ///< such element
};

/// Compares part `part` of `parts` of the whole output `actual`. NaN and infinities must equal the truth;
/// other values must be within the budget. `poison` is the buffer's pattern of 32 bits before the call.
PartFindings look_through(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison,
                          std::size_t part, std::size_t parts);

/// Combines the findings in all parts of an output.
CompareResult conclude(const Expected& expected, std::span<const PartFindings> parts);

/// Does both, with the output as a single part.
CompareResult compare_output(const Expected& expected, std::span<const std::byte> actual,
                             std::uint32_t poison);

/// The tolerance of element `i`. It is infinite if the element is not judged, and 1 or 0 for integers.
double allowed_error(const Expected& expected, std::size_t i);

/// Whether every byte is still the poison: the 32 bits, repeated from the first byte on.
bool untouched(std::span<const std::byte> bytes, std::uint32_t poison);

}  // namespace kernelsmith

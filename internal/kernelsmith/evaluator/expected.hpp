// What an output must be, and its comparison with what was written, in full, or in parts that several threads
// can look at. Pure functions.
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
  bool exact = false;       ///< the same bits; all further members but `values` and `steps` are unused then
  bool per_element = true;  ///< false: only the RMS counts (policy normwise)
  Bytes values;             ///< the truth, elements of `dtype`
  /// For reals, an element each: 1 / (what it may be off); 0 if the truth is not finite, and if it is
  /// but the reference in its own precision is not (or the other way round, and the truth is recorded as 0):
  /// a kernel may write anything there.
  Bytes weights;
  bool wide_weights = false;  ///< weights are doubles, else floats
  double rms_limit = 1;       ///< of error * weight over the judged elements
  std::size_t judged = 0;     ///< elements with a finite truth
  /// Of integers made from reals, a byte each: 1 if the value may be one more or one less, since the real
  /// behind it lies within the budget of a step. Empty: nowhere.
  Bytes steps;
  std::size_t more_steps = 0;  ///< how many other elements may be one step off: steps are found by sampling
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

/// Each element is in one tally at most, by its gravest fault.
struct Faults {
  Tally wrong;  ///< beyond its budget
  Tally not_finite;
  Tally not_written;
};

/// What was found in a part of an output.
struct PartFindings {
  Faults faults;
  std::size_t other_steps = 0;  ///< one step off if `Expected::steps` does not say so
  double worst = 0;             ///< the worst error over its budget
  std::size_t worst_at = 0;     ///< where that is; of integers, the first of the other steps
  double squares = 0;           ///< the sum of those errors' squares
};

/// How an output differs from what was expected.
struct CompareResult {
  Fault fault = Fault::none;  ///< the gravest
  Faults faults;
  double error = 0;          ///< the worst error over its budget; the RMS over its limit if that is more
  double worst = 0;          ///< the worst error over its budget, of reals that are judged one by one
  std::size_t worst_at = 0;  ///< the element that is off most; the first of a graver fault, or of integers
};

/// Compares one of `parts` parts of `actual`, the whole output, with what is expected: if the truth is NaN
/// or infinite, the same, and the rest by the budget. `poison` is what the buffer held before the call, 32
/// bits repeated.
PartFindings look_through(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison,
                          std::size_t part, std::size_t parts);

/// What the findings in all parts of an output say of it.
CompareResult conclude(const Expected& expected, std::span<const PartFindings> parts);

/// Both, in one part.
CompareResult compare_output(const Expected& expected, std::span<const std::byte> actual,
                             std::uint32_t poison);

/// What element `i` may be off: infinite if nothing is judged; of integers 1 or 0.
double allowed_error(const Expected& expected, std::size_t i);

/// Whether every byte is the poison's, 32 bits repeated from the first byte on.
bool untouched(std::span<const std::byte> bytes, std::uint32_t poison);

}  // namespace kernelsmith

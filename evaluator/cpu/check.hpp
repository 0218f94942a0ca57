// The check of one output tensor, in full, or in parts that several threads can look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kernelsmith/core/task.hpp>

#include "bytes.hpp"

namespace kernelsmith {

/// What an output must be: for reals, values with the reciprocal of each element's budget; otherwise, and
/// where `exact`, bytes.
struct Expected {
  Dtype dtype = Dtype::f32;
  bool exact = false;
  bool per_element = true;  ///< false: only the RMS counts (normwise)
  Bytes values;             ///< elements of dtype
  Bytes weights;            ///< as many: 1 / budget, 0 where the truth is not finite; empty where exact
  /// Weights are doubles whatever the dtype: the budgets of denormals have no reciprocal in f32.
  bool wide_weights = false;
  double rms_limit = 1;    ///< of error * weight over the elements that have a weight
  std::size_t judged = 0;  ///< how many these are
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

/// What is found in a part of an output.
struct Findings {
  Faults faults;
  double worst = 0;    ///< the worst error over its budget
  double squares = 0;  ///< the sum of those errors' squares
};

struct CheckResult {
  Fault fault = Fault::none;  ///< the gravest
  Faults faults;
  double error = 0;  ///< the worst error over its budget; the RMS over its limit where that is more
};

/// Compares one of `parts` parts of `actual`, the whole output, with what is expected: where the truth is NaN
/// or infinite, the same, and the rest by the budget. `poison` is what the buffer held before the call, 32
/// bits repeated.
Findings look_through(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison,
                      std::size_t part, std::size_t parts);

/// What the findings in all parts of an output say of it.
CheckResult conclude(const Expected& expected, std::span<const Findings> parts);

/// Both, in one part.
CheckResult check_output(const Expected& expected, std::span<const std::byte> actual, std::uint32_t poison);

/// Whether every byte is the poison's, as streaming_fill() wrote it.
bool untouched(std::span<const std::byte> bytes, std::uint32_t poison);

}  // namespace kernelsmith

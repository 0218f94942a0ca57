// Checks whether a task's error budget rejects results of a lower precision, and results that ignore half of
// an input or all inputs. It only warns, in `doctor TASK` and `init`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernelsmith {

/// For a timed shape: in how many sets of inputs the judge rejected the reference's exact answer to inputs
/// that were rounded to the next lower precision.
struct PrecisionCheck {
  std::string shape;
  std::string lower;  ///< such as "tf32" if the task asks for f32
  std::size_t sets = 0;
  std::size_t caught = 0;
  /// Inputs of which half could be ignored: one of every two neighbouring cache lines was overwritten with
  /// the other. The outputs changed, but the judge rejected none of the sets.
  std::vector<std::string> negligible = {};
  /// Outputs that were equal in all of these sets, within the error budget.
  std::vector<std::string> unmoved = {};

  /// A candidate gets a dozen sets or more, so it need not fail all.
  bool tells() const { return 3 * caught >= sets; }
};

}  // namespace kernelsmith

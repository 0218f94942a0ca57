// Checks whether a task's error budget rejects results of a lower precision, and results that ignore half of
// an input or all inputs. The result is only a warning, in `doctor TASK` and `init`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernelsmith {

/// The result for a timed shape. The judge got the reference's exact answers to inputs that were rounded to
/// the next lower precision. The result says for how many sets of inputs the judge rejected the answer.
struct PrecisionCheck {
  std::string shape;
  std::string lower;  ///< such as "tf32" if the task asks for f32
  std::size_t sets = 0;
  std::size_t caught = 0;
  /// Inputs of which half could be ignored. In every two neighbouring cache lines, one was overwritten with
  /// the other; the outputs changed, but the judge rejected none of the sets.
  std::vector<std::string> negligible = {};
  /// Outputs that were equal in all of these sets, within the error budget.
  std::vector<std::string> unmoved = {};

  /// Whether the judge caught enough of the sets. A candidate gets a dozen sets or more, so it is enough if
  /// it fails some.
  bool tells() const { return 3 * caught >= sets; }
};

}  // namespace kernelsmith

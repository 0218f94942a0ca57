// Whether a task's error budget tells honest results from those of a lower precision, and from those that
// leave inputs out, half of one or all. Nothing is refused for it: `doctor TASK` and `init` warn.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernelsmith {

/// On how many of some sets of inputs at a timed shape the reference's exact answer to inputs rounded to the
/// precision below was found to be wrong.
struct PrecisionCheck {
  std::string shape;
  std::string lower;  ///< such as "tf32" if the task asks for f32
  std::size_t sets = 0;
  std::size_t caught = 0;
  /// Inputs half of which could be left out: in none of these sets was it found to be wrong that of every two
  /// neighbouring cache lines one was a copy of the other, though the outputs changed.
  std::vector<std::string> negligible = {};
  /// Outputs that were the same in all of these sets, or no further apart than they may be off.
  std::vector<std::string> unmoved = {};

  /// A candidate is shown a dozen sets and more, so it need not fail all.
  bool tells() const { return 3 * caught >= sets; }
};

}  // namespace kernelsmith

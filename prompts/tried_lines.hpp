// Finds lines that were tried and removed: a third of the lines that models add were deleted before.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith::detail {

/// A step between two accepted programs: `with` had the lines; `without` lacks them and is better beyond the
/// noise.
struct Tried {
  IndividualPtr with, without;
  std::vector<std::string> lines;
};

/// Steps among a parent's kin (Selection::kin) whose lines the parent lacks: lines that an ancestor had and
/// its child removed, and lines that another child of the parent added. A handful at most, the nearest first.
/// Steps that changed many lines are left out, because they are not evidence about a single line.
std::vector<Tried> tried_lines(const IndividualPtr& parent, const std::vector<IndividualPtr>& kin);

}  // namespace kernelsmith::detail

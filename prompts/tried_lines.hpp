// Lines that were tried and removed: a third of the lines that models add are lines deleted before.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith::detail {

/// A step between two accepted programs: `with` had the lines, `without` has not, and is better beyond the
/// noise.
struct Tried {
  IndividualPtr with, without;
  std::vector<std::string> lines;
};

/// The steps among a parent's kin (Selection::kin) of which the parent keeps nothing: lines that an ancestor
/// had and its child removed, and lines that another child of the parent added. A handful at most, the
/// nearest first. A step that changed many lines says nothing of one of them and is left out.
std::vector<Tried> tried_lines(const IndividualPtr& parent, const std::vector<IndividualPtr>& kin);

}  // namespace kernelsmith::detail

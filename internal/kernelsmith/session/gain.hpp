// The speedup of a program over its parent.
#pragma once

#include <optional>

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

/// The child's speed over its parent's, above 1 is faster, from two measurements over the same yardstick. The
/// interval is the widest possible: low over high to high over low. Empty if one has no such measurement
/// (rejected programs, tasks for `command` and `python`) or it is not positive. Pure.
std::optional<Measurement> gain_over(const Report& parent, const Report& child);

}  // namespace kernelsmith

// How much faster a program is than the one that it was made from.
#pragma once

#include <optional>

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

/// The child's speed over its parent's, above 1 is faster, from two measurements over the same yardstick. The
/// interval is the widest that both allow: low over high, high over low. Empty if one has no such
/// measurement, as rejected programs and those of `command` and `python` tasks, or one that is no positive
/// number. Pure.
std::optional<Measurement> gain_over(const Report& parent, const Report& child);

}  // namespace kernelsmith

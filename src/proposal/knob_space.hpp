// Points of the space that a source's knobs span.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/code/knobs.hpp>

namespace kernelsmith::detail {

/// The index of each knob's value.
using Point = std::vector<std::size_t>;

/// Where the knobs stand now.
Point current_point(const std::vector<Knob>& knobs);

/// The values next to `value` in a knob's order, as indices. Numbers are ordered by size, whatever the order
/// they are listed in; if some value is no number, every other value is a neighbour.
std::vector<std::size_t> neighbours(const Knob& knob, std::size_t value);

/// The values that another source's knobs have, in terms of `knobs`: two knobs are the same if file, name
/// and list are. `fallback` if the other has no such knob.
Point point_of(const std::vector<Knob>& other, const std::vector<Knob>& knobs, const Point& fallback);

}  // namespace kernelsmith::detail

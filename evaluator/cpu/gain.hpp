// When some of a kernel's pairs say more than others do. Pure functions.
#pragma once

#include <cstddef>
#include <span>

namespace kernelsmith {

/// Fewer pairs say little, and make no score.
inline constexpr std::size_t kFewPairs = 4;

/// The most that a median of ratios may be beside these ratios, which nothing can have raised: where memory
/// lies alone makes a tenth, and where they scatter on a busy machine, what their own interval holds is no
/// gain; half as fast again is one in any case. Requires a non-empty span.
double most_by_chance(std::span<const double> ratios);

}  // namespace kernelsmith

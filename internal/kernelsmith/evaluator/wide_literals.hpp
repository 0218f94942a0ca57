// Widens the literals of a source that is built in a wider type, so that expressions that consist only of
// literals and integers are also computed in the wider type. The literals' values stay the same.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith {

/// Rewrites each float literal of a C++ or CUDA source as a double. For `long_double`, rewrites each float
/// and double literal as a long double. `declared` changes nothing. Pure.
std::string with_wide_literals(std::string_view text, OraclePrecision precision);

}  // namespace kernelsmith

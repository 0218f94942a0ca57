// Widens the literals of a source that is built in a wider type. Values stay the same, so that expressions of
// literals and integers alone are computed in the wider type too.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith {

/// Rewrites each float literal of a C++ or CUDA source as a double, or for `long_double` each float and
/// double literal as a long double. `declared` changes nothing. Pure.
std::string with_wide_literals(std::string_view text, OraclePrecision precision);

}  // namespace kernelsmith

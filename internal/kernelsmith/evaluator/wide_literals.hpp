// The literals of a source that is built in a wider type: their values stay, their types become wide, so that
// what is made of literals and integers alone is no longer narrow.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/evaluator/oracle.hpp>

namespace kernelsmith {

/// A C++ or CUDA source with each literal of float written as one of double, and for `long_double` each
/// literal of float or double as one of long double. `declared` changes nothing. Pure.
std::string with_wide_literals(std::string_view text, OraclePrecision precision);

}  // namespace kernelsmith

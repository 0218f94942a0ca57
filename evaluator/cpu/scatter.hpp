// Whose doing it is that the times of a candidate scatter, and what then counts. Pure functions.
#pragma once

#include <span>
#include <string>

#include "abba.hpp"

namespace kernelsmith {

enum class Scatter {
  none,            ///< a score can be made of the ratios
  of_the_machine,  ///< the yardstick scatters as well: no verdict
  own,             ///< the yardstick is steady beside it: what it does at its slow end counts
};

/// `all` are the ratios of a candidate to the yardstick, those of `fresh` among them.
Scatter scatter_of(std::span<const double> all, const AbbaRatios& fresh, const StoppingRule& rule);

/// The interval of median_interval() with the estimate at the lower (upper) tenth of the values.
Measurement low_end(std::span<const double> values, std::string unit);
Measurement high_end(std::span<const double> values, std::string unit);

}  // namespace kernelsmith

// Two loaded objects timed against each other.
#pragma once

#include <cstddef>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

#include "loaded_object.hpp"

namespace kernelsmith {

/// How long two objects are compared.
struct Patience {
  StoppingRule rule;               ///< of each shape
  std::size_t pairs_of_placement;  ///< at each shape before both are loaded anew, each in the other's arena
};

inline constexpr Patience kAgainstYardstick{{4, 12, 0.015, 0.7}, 2};
/// For an answer that stands alone.
inline constexpr Patience kWithCare{{32, 128, 0.006, 0}, 4};
/// Measured once and a factor of every score: always many pairs, however slow the baseline is.
inline constexpr Patience kBaselineAgainstYardstick{{32, 64, 0.015, 0}, 4};

/// What one shape's pairs gave.
struct AbbaRatios {
  std::vector<double> ratios;      ///< b's time over a's, above 1 where a is faster
  std::vector<double> a_times_us;  ///< of one call of a, the mean of the pair
  std::vector<double> b_times_us;  ///< of one call of b, the mean of the pair
};

/// Alternates a b b a and b a a b at each of the first `rules.size()` shapes in turn, so that a process gives
/// what it can at all of them, until every shape's rule is content, or its calls have taken seconds. A
/// failure of b is an Error: it was accepted before.
Judged<std::vector<AbbaRatios>> time_abba(LoadedObject& a, LoadedObject& b,
                                          const std::vector<StoppingRule>& rules,
                                          std::size_t pairs_of_placement, const std::stop_token& stop);

}  // namespace kernelsmith

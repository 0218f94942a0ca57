// Two loaded objects timed against each other.
#pragma once

#include <cstddef>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

#include "loaded_object.hpp"

namespace kernelsmith {

/// Pairs at each shape before both objects are loaded anew, each in the other's arena. Two placements are a
/// turn, which gives each side both arenas alike.
struct Placement {
  std::size_t in_first_turn, later;
};

/// How long two objects are compared.
struct Patience {
  StoppingRule rule;  ///< of each shape
  Placement placement;
};

/// Loading costs more than the pairs: what the first turn leaves open gets longer ones.
inline constexpr Patience kAgainstYardstick{{4, 12, 0.015, 0.7}, {2, 4}};
/// For an answer that stands alone.
inline constexpr Patience kWithCare{{32, 256, 0.006, 0}, {4, 4}};
/// Measured once and a factor of every score: always many pairs, however slow the baseline is.
inline constexpr Patience kBaselineAgainstYardstick{{32, 64, 0.015, 0}, {4, 4}};

/// What one shape's pairs gave.
struct AbbaRatios {
  std::vector<double> ratios;      ///< b's time over a's, above 1 where a is faster
  std::vector<double> a_times_us;  ///< of one call of a, the mean of the pair
  std::vector<double> b_times_us;  ///< of one call of b, the mean of the pair
  std::vector<bool> met{};         ///< whether an earlier process of a had met a set of the pair
  std::vector<bool> b_met{};       ///< the same of b
};

/// Alternates a b b a and b a a b at each of the first `rules.size()` shapes in turn, so that a process gives
/// what it can at all of them, until every shape's rule is content, or its calls have taken seconds. A
/// failure of b is an Error: it was accepted before.
Judged<std::vector<AbbaRatios>> time_abba(LoadedObject& a, LoadedObject& b,
                                          const std::vector<StoppingRule>& rules, const Placement& placement,
                                          const std::stop_token& stop);

}  // namespace kernelsmith

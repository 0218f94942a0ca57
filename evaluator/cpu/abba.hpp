// Two loaded objects timed against each other.
#pragma once

#include <cstddef>
#include <stop_token>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

#include "loaded_object.hpp"

namespace kernelsmith {

/// Against the yardstick, in a search.
inline constexpr StoppingRule kInSearch{4, 8, 0.015, 0.7};
/// For an answer that stands alone.
inline constexpr StoppingRule kWithCare{32, 256, 0.006, 0};
/// Measured once and a factor of every score: always many pairs, however slow the baseline is.
inline constexpr StoppingRule kOfBaseline{32, 64, 0.015, 0};

/// Pairs at one shape, an element for each.
struct Pairs {
  std::vector<double> ratios{};      ///< b's time over a's, above 1 where a is faster
  std::vector<double> a_times_us{};  ///< of one call of a, the mean of the pair
  std::vector<double> b_times_us{};  ///< of one call of b, the mean of the pair
  std::vector<bool> met{};           ///< whether an earlier process of a had met a set of the pair
  std::vector<bool> b_met{};         ///< the same of b
};

/// What one shape's pairs gave.
struct AbbaRatios : Pairs {
  /// Where the others' batches hold several calls, and a kernel can work on all the inputs that are there:
  /// pairs whose calls are shown one by one, less what that costs, ...
  Pairs shown{};
  /// ... which was so much in each of them, ...
  std::vector<double> showing_us{};
  /// ... and where that is not possible, pairs of one call to a batch, ...
  Pairs lone{};
  /// ... and where all batches of one of the two are such, what a request cost beside each of those, beyond
  /// what it costs on a calm machine.
  std::vector<double> asking_us{};
  bool a_is_alone = false, b_is_alone = false;  ///< in all its batches
};

/// Alternates a b b a and b a a b at each of the first `rules.size()` shapes in turn, so that a process gives
/// what it can at all of them, until every shape's rule is content, or its calls have taken seconds. A
/// failure of b is an Error: it was accepted before. `trusted`, which may be b, tells what it costs to show
/// calls one by one.
Judged<std::vector<AbbaRatios>> time_abba(LoadedObject& a, LoadedObject& b, LoadedObject& trusted,
                                          const std::vector<StoppingRule>& rules,
                                          const std::stop_token& stop);

}  // namespace kernelsmith

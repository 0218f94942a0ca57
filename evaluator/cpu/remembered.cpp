#include "remembered.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

namespace kernelsmith {
namespace {

/// By how much the medians may differ: where memory lies alone makes a tenth, and few pairs say little.
constexpr std::size_t kFew = 4;
constexpr double kMostGained = 1.15, kMostGainedOverFew = 1.5;

/// The most that the median over sets that were met may be, beside the ratios over those that were not: where
/// these scatter on a busy machine, what their own interval holds is no gain.
double most_by_chance(const std::vector<double>& unmet) {
  const Measurement alone = median_interval(unmet, "x");
  const double most = kMostGainedOverFew * alone.median;
  return unmet.size() < kFew ? most : std::clamp(alone.high, kMostGained * alone.median, most);
}

template <class T>
std::vector<T> those(const std::vector<T>& values, const std::vector<bool>& met, bool wanted) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (met[i] == wanted) kept.push_back(values[i]);
  return kept;
}

}  // namespace

bool leave_out_remembered(AbbaRatios& pairs) {
  const auto unmet = those(pairs.ratios, pairs.met, false), met = those(pairs.ratios, pairs.met, true);
  if (unmet.empty() || met.empty()) return met.empty();
  if (median_of(met) <= most_by_chance(unmet)) return true;
  if (unmet.size() < kFew) return false;
  for (auto* const values : {&pairs.ratios, &pairs.a_times_us, &pairs.b_times_us})
    *values = those(*values, pairs.met, false);
  pairs.b_met = those(pairs.b_met, pairs.met, false);
  pairs.met.assign(pairs.ratios.size(), false);
  return true;
}

AbbaRatios seen_from_b(AbbaRatios pairs) {
  for (double& ratio : pairs.ratios) ratio = 1 / ratio;
  std::swap(pairs.a_times_us, pairs.b_times_us);
  std::swap(pairs.met, pairs.b_met);
  return pairs;
}

}  // namespace kernelsmith

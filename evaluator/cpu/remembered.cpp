#include "remembered.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

namespace kernelsmith {
namespace {

/// By how much the medians may differ: where memory lies alone makes a tenth, and few pairs say little.
constexpr std::size_t kFew = 4;
constexpr double kMostGained = 1.2, kMostGainedOverFew = 1.5;

template <class T>
void keep_unmet(std::vector<T>& values, const std::vector<bool>& met) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!met[i]) kept.push_back(values[i]);
  values = std::move(kept);
}

std::vector<double> those(const std::vector<double>& values, const std::vector<bool>& met, bool wanted) {
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (met[i] == wanted) kept.push_back(values[i]);
  return kept;
}

}  // namespace

void leave_out_remembered(AbbaRatios& pairs) {
  const auto unmet = those(pairs.ratios, pairs.met, false), met = those(pairs.ratios, pairs.met, true);
  if (unmet.empty() || met.empty()) return;
  const double most = unmet.size() < kFew ? kMostGainedOverFew : kMostGained;
  if (median_of(met) <= most * median_of(unmet)) return;
  for (auto* const values : {&pairs.ratios, &pairs.a_times_us, &pairs.b_times_us})
    keep_unmet(*values, pairs.met);
  keep_unmet(pairs.b_met, pairs.met);
  pairs.met.assign(pairs.ratios.size(), false);
}

AbbaRatios seen_from_b(AbbaRatios pairs) {
  for (double& ratio : pairs.ratios) ratio = 1 / ratio;
  std::swap(pairs.a_times_us, pairs.b_times_us);
  std::swap(pairs.met, pairs.b_met);
  return pairs;
}

}  // namespace kernelsmith

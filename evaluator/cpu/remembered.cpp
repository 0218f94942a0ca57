#include "remembered.hpp"

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

#include "gain.hpp"

namespace kernelsmith {
namespace {

template <class T>
std::vector<T> those(const std::vector<T>& values, const std::vector<bool>& met, bool wanted) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (met[i] == wanted) kept.push_back(values[i]);
  return kept;
}

/// Requires some of either.
bool gained(const std::vector<double>& met, const std::vector<double>& unmet) {
  return median_of(met) > most_by_chance(unmet);
}

void leave_out_met(Pairs& pairs) {
  for (auto* const values : {&pairs.ratios, &pairs.a_times_us, &pairs.b_times_us})
    *values = those(*values, pairs.met, false);
  pairs.b_met = those(pairs.b_met, pairs.met, false);
  pairs.met.assign(pairs.ratios.size(), false);
}

}  // namespace

bool leave_out_remembered(AbbaRatios& pairs) {
  for (Pairs* const beside : {&pairs.shown, &pairs.lone}) {
    const auto unmet = those(beside->ratios, beside->met, false),
               met = those(beside->ratios, beside->met, true);
    if (!unmet.empty() && !met.empty() && gained(met, unmet)) leave_out_met(*beside);
  }

  const auto unmet = those(pairs.ratios, pairs.met, false), met = those(pairs.ratios, pairs.met, true);
  if (unmet.empty() || met.empty()) return met.empty();
  if (!gained(met, unmet)) return true;
  if (unmet.size() < kFewPairs) return false;
  leave_out_met(pairs);
  return true;
}

AbbaRatios seen_from_b(AbbaRatios pairs) {
  for (Pairs* const some : std::initializer_list<Pairs*>{&pairs, &pairs.shown, &pairs.lone}) {
    for (double& ratio : some->ratios) ratio = 1 / ratio;
    std::swap(some->a_times_us, some->b_times_us);
    std::swap(some->met, some->b_met);
  }
  std::swap(pairs.a_is_alone, pairs.b_is_alone);
  return pairs;
}

}  // namespace kernelsmith

#include "batched.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/evaluator/statistics.hpp>

#include "gain.hpp"

namespace kernelsmith {
namespace {

/// What a request costs is taken off every time, and known to within so much: one call by itself finds less
/// of it in the caches than the empty requests did by which it was measured.
constexpr double kDoubtUs = 15;

/// By how much the ratio of so short times may fall short of the true one.
double doubt_of_ratio(double a_us, double b_us) {
  return std::max(1.0, (b_us - kDoubtUs) / (a_us - kDoubtUs) * a_us / b_us);
}

}  // namespace

bool leave_out_batched(AbbaRatios& pairs) {
  const Pairs& lone = pairs.lone;
  if (lone.ratios.empty()) return true;
  const double a_us = median_of(lone.a_times_us), b_us = median_of(lone.b_times_us);
  if (a_us <= kDoubtUs) return true;
  if (median_of(pairs.ratios) <= most_by_chance(lone.ratios) * doubt_of_ratio(a_us, b_us)) return true;
  if (lone.ratios.size() < kFewPairs) return false;
  pairs = {std::exchange(pairs.lone, {}), {}};
  return true;
}

}  // namespace kernelsmith

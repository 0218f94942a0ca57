#include "batched.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <kernelsmith/evaluator/statistics.hpp>

#include "gain.hpp"

namespace kernelsmith {
namespace {

/// What a lone call finds cold is not the same for two kernels: the time of one is known to within so much.
constexpr double kDoubtUs = 2;

/// The lone pairs without what a call by itself costs beside the kernel's time: that is what `b`, right
/// beside it, took more than in batches, where it takes `b_us`. Its times stay as they were: they tell
/// whether the machine was steady. A machine's stutter can make a lone call of one side cheaper by more than
/// it takes.
Pairs without_cost(const Pairs& lone, double b_us) {
  Pairs net = lone;
  for (std::size_t i = 0; i < net.ratios.size(); ++i) {
    net.a_times_us[i] = std::max(lone.a_times_us[i] - (lone.b_times_us[i] - b_us), kDoubtUs);
    net.ratios[i] = b_us / net.a_times_us[i];
  }
  return net;
}

}  // namespace

bool leave_out_batched(AbbaRatios& pairs) {
  if (pairs.lone.ratios.empty()) return true;
  Pairs lone = without_cost(pairs.lone, median_of(pairs.b_times_us));
  const double a_us = median_of(lone.a_times_us);
  if (a_us <= kDoubtUs) return true;
  const double doubt = a_us / (a_us - kDoubtUs);
  if (median_of(pairs.ratios) <= most_by_chance(lone.ratios) * doubt) return true;
  if (lone.ratios.size() < kFewPairs) return false;
  pairs = {std::move(lone), {}};
  return true;
}

}  // namespace kernelsmith

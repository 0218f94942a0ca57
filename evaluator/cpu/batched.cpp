#include "batched.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

#include "gain.hpp"

namespace kernelsmith {
namespace {

/// What a lone call finds cold is not the same for two kernels: the time of one is known to within so much.
constexpr double kDoubtUs = 2;
/// What calls one by one leave to chance is what their interval says, but no less than this, since inputs are
/// warmer there than in batches, and where they are not few no more: who scatters gains nothing by it.
constexpr double kLeastByChance = 1.02, kMostByChance = 1.08;
/// What it costs to show a call is known to so many microseconds and such a part.
constexpr double kShowingDoubtUs = 0.01, kShowingDoubt = 0.01;
/// Where that is more than half of a call, it grants half: a bound that knows little is still one.
constexpr double kMostDoubt = 0.5;

/// The lone pairs without what a call by itself costs beside the kernel's time: that is what `b`, right
/// beside it, took more than in batches. Its times stay as they were: they tell whether the machine was
/// steady. A machine's stutter can make a lone call of one side cheaper by more than it takes. Where `b` has
/// calls that are batches by themselves, what they take more or less is nothing but scatter, and may be more
/// than all of `a`: a request's cost is taken off both.
Pairs without_cost(const AbbaRatios& pairs) {
  const Pairs& lone = pairs.lone;
  const double b_us = median_of(pairs.b_times_us);
  const double asking_us = pairs.b_is_alone ? median_of(pairs.asking_us) : 0;
  Pairs net = lone;
  for (std::size_t i = 0; i < net.ratios.size(); ++i) {
    const double net_b_us = pairs.b_is_alone ? std::max(lone.b_times_us[i] - asking_us, kDoubtUs) : b_us;
    net.a_times_us[i] = std::max(lone.a_times_us[i] - (lone.b_times_us[i] - net_b_us), kDoubtUs);
    net.ratios[i] = net_b_us / net.a_times_us[i];
  }
  return net;
}

/// What the pairs can be, going by calls one by one: what `b` takes longer in batches, where it takes `b_us`,
/// `a` takes longer too, since both find the same things cold there. (Not as the ratio is one by one: calls
/// that mostly wait for what is cold take little of their time when it is warm, and what a kernel gains by
/// having the next call's come meanwhile is no speed of its own.)
std::vector<double> expected_in_batches(const Pairs& shown, double b_us) {
  std::vector<double> ratios(shown.ratios.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double longer_us = std::max(b_us - shown.b_times_us[i], 0.0);
    ratios[i] = (shown.b_times_us[i] + longer_us) / (shown.a_times_us[i] + longer_us);
  }
  return ratios;
}

/// Calls one by one bound the others, and do not take their place: they are few, and what a kernel does
/// between them, or in the slowest, costs it nothing. False where a bound below the others is made of so few
/// that one stutter of the machine makes it: each call is two hand-overs between cores.
bool bound_by_calls_one_by_one(AbbaRatios& pairs) {
  const double b_us = median_of(pairs.b_times_us);
  const Measurement expected = median_interval(expected_in_batches(pairs.shown, b_us), "x");
  const double a_us = b_us / expected.median;
  const double doubt_us =
      std::min(kShowingDoubtUs + kShowingDoubt * median_of(pairs.showing_us), kMostDoubt * a_us);
  const bool few = pairs.shown.ratios.size() < kFewPairs;
  const double by_chance =
      std::clamp(expected.high / expected.median, kLeastByChance, few ? HUGE_VAL : kMostByChance);
  const double most = expected.median * by_chance * a_us / (a_us - doubt_us);
  const double seen = median_of(pairs.ratios);
  if (seen <= most) return true;
  if (few) return false;
  // The allowances are for believing the batches. What is plainly not to be believed has no part of them, nor
  // of what chance gave it one by one; by degrees, so that scores do not leap.
  const double part = std::max(expected.low, most - (seen - most)) / seen;
  for (double& ratio : pairs.ratios) ratio *= part;
  for (double& us : pairs.a_times_us) us /= part;
  return true;
}

}  // namespace

bool leave_out_batched(AbbaRatios& pairs) {
  if (!pairs.shown.ratios.empty() && !bound_by_calls_one_by_one(pairs)) return false;
  if (pairs.lone.ratios.empty()) return true;
  Pairs lone = without_cost(pairs);
  const double a_us = median_of(lone.a_times_us);
  if (a_us <= kDoubtUs) return true;
  const double doubt = a_us / (a_us - kDoubtUs);
  if (median_of(pairs.ratios) <= most_by_chance(lone.ratios) * doubt) return true;
  if (lone.ratios.size() < kFewPairs) return false;
  pairs = {std::move(lone)};
  return true;
}

}  // namespace kernelsmith

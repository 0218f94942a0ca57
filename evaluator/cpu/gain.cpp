#include "gain.hpp"

#include <algorithm>

#include <kernelsmith/evaluator/statistics.hpp>

namespace kernelsmith {
namespace {

constexpr double kByPlacement = 1.15, kInAnyCase = 1.5;

}  // namespace

double most_by_chance(std::span<const double> ratios) {
  const Measurement alone = median_interval(ratios, "x");
  const double most = kInAnyCase * alone.median;
  return ratios.size() < kFewPairs ? most : std::clamp(alone.high, kByPlacement * alone.median, most);
}

}  // namespace kernelsmith

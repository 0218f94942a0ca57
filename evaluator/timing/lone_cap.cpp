#include "timing/lone_cap.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <kernelsmith/evaluator/statistics.hpp>

#include "judge/constants.hpp"

namespace kernelsmith::timing {

double least_believable_us(const LoneTimes& times, double noise_us) {
  std::vector<double> longer(times.player_lone_us.size());
  for (std::size_t i = 0; i < longer.size(); ++i)
    longer[i] = times.player_lone_us[i] - times.yardstick_lone_us[i];
  const Measurement alone = median_interval(longer, "us");
  const double doubt_us = noise_us / std::sqrt(static_cast<double>(longer.size()));
  const double least_us = times.yardstick_us + std::min(alone.low, alone.median - doubt_us);
  return std::max(least_us / judge::kLoneMargin, judge::kLeastUs);
}

double lone_cap(const LoneTimes& times, double noise_us) {
  if (times.player_lone_us.empty()) return 1;
  return std::min(1.0, times.player_us / least_believable_us(times, noise_us));
}

}  // namespace kernelsmith::timing

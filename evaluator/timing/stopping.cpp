#include "timing/stopping.hpp"

#include <kernelsmith/evaluator/statistics.hpp>

#include "judge/constants.hpp"

namespace kernelsmith::timing {

bool enough(std::span<const double> ratios, double spent_us, const StoppingRule& rule) {
  if (spent_us >= judge::kEnoughUs && ratios.size() >= judge::kEnoughSamples) return true;
  if (ratios.size() < rule.least) return false;
  if (ratios.size() >= rule.most) return true;
  const Measurement so_far = median_interval(ratios, "x");
  return so_far.high < rule.clearly_worse || relative_half_width(so_far) <= rule.target;
}

}  // namespace kernelsmith::timing

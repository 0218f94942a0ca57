#include "timing/stopping.hpp"

#include <kernelsmith/evaluator/statistics.hpp>

#include "judge/constants.hpp"

namespace kernelsmith::timing {

bool enough(const Progress& so_far, const StoppingRule& rule) {
  const std::size_t samples = so_far.ratios.size();
  if (so_far.spent_us >= judge::kEnoughUs && samples >= judge::kEnoughSamples) return true;
  if (so_far.rounds >= rule.most_rounds) return true;
  if (samples < rule.least) return false;
  const Measurement ratio = median_interval(so_far.ratios, "x");
  return ratio.high < rule.clearly_worse || relative_half_width(ratio) <= rule.target;
}

}  // namespace kernelsmith::timing

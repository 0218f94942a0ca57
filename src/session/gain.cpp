#include <algorithm>
#include <cmath>

#include <kernelsmith/session/gain.hpp>

namespace kernelsmith {

std::optional<Measurement> gain_over(const Report& parent, const Report& child) {
  const auto& ours = child.over_yardstick;
  const auto& theirs = parent.over_yardstick;
  if (!ours || !theirs || !(theirs->low > 0) || !(ours->low > 0) || !std::isfinite(theirs->high)) return {};
  Measurement gain = *ours;
  gain.low = ours->low / theirs->high;
  gain.median = ours->median / theirs->median;
  gain.high = ours->high / theirs->low;
  gain.samples = std::min(ours->samples, theirs->samples);
  return gain;
}

}  // namespace kernelsmith

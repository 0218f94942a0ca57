#include <cmath>

#include <kernelsmith/engine/expected_gain.hpp>

namespace kernelsmith {
namespace {

/// The history that is assumed before the search: one improvement of this size. So a new search does not
/// count as flat at once. The weight of this improvement falls with each evaluation.
constexpr double kPriorLogGain = 1;

}  // namespace

double expected_log_gain(std::span<const Improvement> improvements, std::uint64_t made, std::uint64_t left) {
  if (made == 0) return kPriorLogGain;
  const auto now = static_cast<double>(made);
  double rate = kPriorLogGain / now;
  for (const Improvement& one : improvements)
    rate += one.log_gain * static_cast<double>(one.evaluation) / now;
  return rate * std::log1p(static_cast<double>(left) / now);
}

ExpectedGain expected_gain(std::span<const Improvement> improvements, std::uint64_t made,
                           std::uint64_t left) {
  return {left, 100 * std::expm1(expected_log_gain(improvements, made, left))};
}

void ImprovementHistory::observe(ProgramId best, const Measurement& fitness, std::uint64_t evaluations) {
  if (fitness.median <= 0) return level_.reset();
  if (!level_) {
    level_ = {best, fitness};
    return;
  }
  if (fitness.high < level_->fitness.low) {
    std::erase_if(improvements_, [&](const Improvement& one) { return one.program == level_->program; });
    level_ = {best, fitness};
  } else if (compare(fitness, level_->fitness) == Comparison::better) {
    improvements_.push_back({best, evaluations, std::log(fitness.median / level_->fitness.median)});
    level_ = {best, fitness};
  }
}

}  // namespace kernelsmith

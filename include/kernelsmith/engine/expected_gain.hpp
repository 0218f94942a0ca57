// Estimates the gain of further evaluations from the history of the best.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

/// The best became better beyond the noise.
struct Improvement {
  ProgramId program;             ///< the new best
  std::uint64_t evaluation = 0;  ///< evaluations so far, including this one
  double log_gain = 0;           ///< the logarithm of (its fitness / the fitness of the previous best)

  friend bool operator==(const Improvement&, const Improvement&) = default;
};

/// The logarithm of the factor by which `left` more evaluations are expected to raise the best, after `made`
/// evaluations. Pure. docs/search-quality.md compares it with the gains of real searches.
double expected_log_gain(std::span<const Improvement> improvements, std::uint64_t made, std::uint64_t left);

/// The estimate for people.
struct ExpectedGain {
  std::uint64_t evaluations = 0;  ///< evaluations that are left
  double percent = 0;             ///< expected increase of the best's fitness

  friend bool operator==(const ExpectedGain&, const ExpectedGain&) = default;
};

ExpectedGain expected_gain(std::span<const Improvement> improvements, std::uint64_t made, std::uint64_t left);

/// The history of the best, made from the best program after each commit. Not thread-safe.
class ImprovementHistory {
 public:
  /// Records the best program and its fitness after `evaluations`. If the best is now worse beyond the noise,
  /// because the earlier best did not hold when it was measured again, the earlier improvement is undone.
  void observe(ProgramId best, const Measurement& fitness, std::uint64_t evaluations);

  const std::vector<Improvement>& improvements() const { return improvements_; }

  /// Whether the best has a fitness above 0. Otherwise there is no ratio to express a gain.
  bool known() const { return level_.has_value(); }

 private:
  struct Level {
    ProgramId program;
    Measurement fitness;
  };

  std::optional<Level> level_;  ///< number of evaluations at the last improvement, or at the first best
  std::vector<Improvement> improvements_;
};

}  // namespace kernelsmith

// What further evaluations would still gain, judged by how the best has improved so far.
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
  std::uint64_t evaluation = 0;  ///< how many evaluations had been made, this one included
  double log_gain = 0;           ///< the logarithm of its fitness over that of the best before

  friend bool operator==(const Improvement&, const Improvement&) = default;
};

/// The logarithm of the factor by which `left` more evaluations are expected to raise the best after `made`
/// of them. Pure. docs/search-quality.md shows how it compares with what searches gained.
double expected_log_gain(std::span<const Improvement> improvements, std::uint64_t made, std::uint64_t left);

/// The same for people.
struct ExpectedGain {
  std::uint64_t evaluations = 0;  ///< that are left
  double percent = 0;             ///< by which they are expected to raise the best's fitness

  friend bool operator==(const ExpectedGain&, const ExpectedGain&) = default;
};

ExpectedGain expected_gain(std::span<const Improvement> improvements, std::uint64_t made, std::uint64_t left);

/// The history of the best. A fold over what the best is after each commit. Not thread-safe.
class ImprovementHistory {
 public:
  /// The best program, and its fitness, after so many evaluations. A best that fell below the noise of the
  /// one before, because that one did not hold when it was measured again, takes back that one's improvement.
  void observe(ProgramId best, const Measurement& fitness, std::uint64_t evaluations);

  const std::vector<Improvement>& improvements() const { return improvements_; }

  /// Whether there is a best whose fitness is above 0: otherwise no ratio says what would be gained.
  bool known() const { return level_.has_value(); }

 private:
  struct Level {
    ProgramId program;
    Measurement fitness;
  };

  std::optional<Level> level_;  ///< of the last improvement, or of the first best
  std::vector<Improvement> improvements_;
};

}  // namespace kernelsmith

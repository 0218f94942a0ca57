// Measurements and metrics: numbers that carry their noise and are always finite.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// A robust estimate: the median of `samples` values and its 95 % confidence interval, low <= median <= high.
struct Measurement {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t samples = 0;
  std::string unit;  ///< "us", "x" (a ratio), or empty

  /// A number without noise.
  static Measurement exact(double value, std::string unit = {}) {
    return {value, value, value, 1, std::move(unit)};
  }

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// How two fitness values compare, given their noise.
enum class Comparison {
  better,     ///< the challenger's interval lies above the incumbent's
  worse,      ///< the challenger's interval lies below, or both are the same number without noise
  ambiguous,  ///< the intervals overlap: another measurement may decide
};

/// Compares a challenger with an incumbent (higher is better). Equal numbers without noise are `worse`: the
/// incumbent stays.
Comparison compare(const Measurement& challenger, const Measurement& incumbent);

/// Compares for an archive: `better` if the challenger's low end is higher, else `ambiguous` if the intervals
/// overlap, because another measurement may decide, else `worse`.
Comparison rank(const Measurement& challenger, const Measurement& incumbent);

/// Pools two measurements of one program, in the same unit. Each is weighted by its number of samples, and
/// the interval narrows like that of a mean.
Measurement pooled(const Measurement& a, const Measurement& b);

/// Features that several backends report.
inline constexpr const char* kPeakMemory = "peak_memory";  ///< bytes of device memory that a call has in use
/// Time from source to binary. For a binary from a cache it is the time of its compilation.
inline constexpr const char* kCompileMs = "compile_ms";

/// The fitness of an accepted program (higher is better; for kernels the geometric mean of baseline/candidate
/// over the timed shapes) and named features, which archive axes read. All numbers are finite. Searches rank
/// programs by the low end of the fitness, a conservative estimate. Immutable.
class Metrics {
 public:
  /// Refuses (`invalid_argument`) a number that is not finite and an interval that does not hold its median.
  static Result<Metrics> create(Measurement fitness, std::map<std::string, double> features = {});

  const Measurement& fitness() const { return fitness_; }
  const std::map<std::string, double>& features() const { return features_; }

  friend bool operator==(const Metrics&, const Metrics&) = default;

 private:
  Metrics() = default;
  Measurement fitness_;
  std::map<std::string, double> features_;
};

}  // namespace kernelsmith

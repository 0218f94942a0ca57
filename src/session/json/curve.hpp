// The progress curve: the best fitness after each evaluated program, from the latest measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::view_json {

/// A program on the curve. `at` counts evaluated programs in the order of their numbers, from 1.
struct CurvePoint {
  std::uint64_t at = 0;
  ProgramId program;
  double fitness = 0;  ///< the median
  double low = 0;      ///< low end of its interval; the best program has the highest
};

/// A new best, with its interval.
struct CurveStep {
  CurvePoint point;
  double low = 0, high = 0;
};

struct Curve {
  std::uint64_t evaluated = 0;
  std::string unit;  ///< unit of the fitness; empty if the fitness has none
  /// The fitness of a program that was measured again combines all its measurements. A program that failed
  /// when measured again counts as rejected. A program that lost to the best in a duel is not a step, even if
  /// its low end is higher.
  std::vector<CurveStep> steps;
  std::vector<CurvePoint> accepted;     ///< all accepted programs, or evenly chosen ones
  std::vector<std::uint64_t> rejected;  ///< positions of rejected programs; all, or evenly chosen ones
};

/// The curve with at most `most` accepted programs, `most` rejected programs and `most` steps. The last step
/// is always included. Reads the steps' intervals from the view's store. Errors: the journal's.
Result<Curve> curve_of(const RunView& view, std::size_t most);

}  // namespace kernelsmith::view_json

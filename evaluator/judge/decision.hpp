// Computes a score from samples. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>

#include "timing/samples.hpp"

namespace kernelsmith::judge {

/// All measurements of one binary, by timed shape.
struct Pool {
  std::vector<std::vector<double>> ratios;    ///< the yardstick's time over the candidate's
  std::vector<std::vector<double>> times_us;  ///< time of a call
};

/// The baseline's factor in every score, measured once.
struct Scale {
  std::vector<Measurement> by_shape;  ///< the baseline's time over the yardstick's, by timed shape
  Measurement mean;                   ///< their geometric mean
};

/// The result of one shape's samples.
struct ShapeScore {
  Measurement ratio;       ///< the yardstick's time over the candidate's, without a floor
  Measurement runtime_us;  ///< of the candidate's call, without a floor
  double yardstick_us = 0;
  bool short_call = false;
  double floor = 0;  ///< of the ratio
};

/// Slows the candidate's and the rival's batch times to what their single calls justify
/// (timing/lone_cap.hpp).
void cap_by_lone_calls(timing::ShapeSamples& shape, double noise_us);

/// The first shape whose ratios and yardstick times both scatter too much for a score. A candidate that
/// scatters while the yardstick is steady gets the low end of its interval.
std::optional<std::size_t> unsteady_shape(const std::vector<timing::ShapeSamples>& shapes);

/// Adds the samples to the pool and takes the medians of the whole pool.
std::vector<ShapeScore> score_shapes(const std::vector<timing::ShapeSamples>& shapes, const Floors& floors,
                                     Pool& pool);

/// Sets the report's speeds and returns the fitness: the ratio times the scale. `weights` are
/// Context::weights().
Measurement conclude(const std::vector<ShapeScore>& scores, std::span<const double> weights,
                     const Scale& scale, const Floors& floors, Report& report);

/// The rival's time over the candidate's in the same samples. Requires samples of a rival.
Measurement duel(const std::vector<timing::ShapeSamples>& shapes, const std::vector<ShapeScore>& scores,
                 std::span<const double> weights);

}  // namespace kernelsmith::judge

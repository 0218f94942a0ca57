// The next point of a space to try, by what was observed at others: a search with two models of the space.
// src/tuning/README.md has the method and why each part is in it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/tuning/space.hpp>

namespace kernelsmith {

/// What came of a point.
struct TuningObservation {
  TuningPoint point;
  std::optional<double> cost;  ///< positive, lower is better; empty for a rejection
  double noise = 0;            ///< the standard deviation of `cost` as a share of it
  bool pending = false;        ///< being tried: the point is taken, and its cost is not known yet
};

/// How the search goes.
struct TuningOptions {
  std::size_t start = 5;    ///< random points before the first that a model proposes
  bool exhaustive = false;  ///< the space's order, without a model
  /// So many points are being tried that no observation names. Each took the next best one; so does this.
  std::size_t ahead = 0;
};

/// A point that no observation has; empty if all points are known, or, in the space's order, being tried.
/// Pure: it draws from `rng` only. Observations that do not lie in the space are passed over. The models are
/// fitted to a bounded number of observations, so that a long search does not become slow.
std::optional<TuningPoint> next_point(const TuningSpace& space,
                                      std::span<const TuningObservation> observations, Rng& rng,
                                      const TuningOptions& options = {});

}  // namespace kernelsmith

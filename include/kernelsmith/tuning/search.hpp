// Chooses the next point of a space from observations at other points, with two models of the space.
// src/tuning/README.md explains the method and the reason for each part.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/tuning/space.hpp>

namespace kernelsmith {

/// The result of a point.
struct TuningObservation {
  TuningPoint point;
  std::optional<double> cost;  ///< positive, lower is better; empty for a rejection
  double noise = 0;            ///< the standard deviation of `cost`, divided by `cost`
  bool pending = false;        ///< the point is being tried: its cost is not known yet
};

/// Options of the search.
struct TuningOptions {
  std::size_t start = 5;    ///< number of random points before the first that a model proposes
  bool exhaustive = false;  ///< takes points in the space's order, without a model
  /// The number of points that are being tried and are not among the observations. The search for each of
  /// them took the next best point, and this search does the same.
  std::size_t ahead = 0;
};

/// A point without an observation. Empty if none is left; with `exhaustive` also if all points that are left
/// are being tried. Pure: draws from `rng` only. Observations outside the space are ignored. The models use a
/// bounded number of observations, so that a long search does not become slow.
std::optional<TuningPoint> next_point(const TuningSpace& space,
                                      std::span<const TuningObservation> observations, Rng& rng,
                                      const TuningOptions& options = {});

}  // namespace kernelsmith

// Chooses the next point of a space from observations at others: a search with two models of the space.
// src/tuning/README.md explains the method and why it has each part.
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
  double noise = 0;            ///< the standard deviation of `cost` as a share of it
  bool pending = false;        ///< being tried: its cost is not known yet
};

/// Options of the search.
struct TuningOptions {
  std::size_t start = 5;    ///< random points before the first that a model proposes
  bool exhaustive = false;  ///< take points in the space's order, without a model
  /// The number of points being tried that have no observation. Each took the next best point, and so does
  /// this search.
  std::size_t ahead = 0;
};

/// A point without an observation; empty if there is none left, or, in the space's order, if all the rest are
/// being tried. Pure: draws from `rng` only. Observations outside the space are ignored. The models use a
/// bounded number of observations, so that a long search does not become slow.
std::optional<TuningPoint> next_point(const TuningSpace& space,
                                      std::span<const TuningObservation> observations, Rng& rng,
                                      const TuningOptions& options = {});

}  // namespace kernelsmith

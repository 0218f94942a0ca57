// Individuals that samplers show together with a parent.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/islands/island.hpp>

namespace kernelsmith {

/// Draws the rejection at rank r (from 0) with a probability proportional to 1 / (1 + r). Null if
/// `rejections` is empty.
IndividualPtr draw_rejection(std::span<const IndividualPtr> rejections, Rng& rng);

/// Elites that are neither the selection's parent nor among its top, from cells far from the parent's and
/// from one another. Each is the farthest of a few random ones. Requires an accepted parent.
std::vector<IndividualPtr> draw_inspirations(const Archive& archive, std::size_t count,
                                             const Selection& selection, Rng& rng);

/// The recent failures without the parent, those at the latest stage first.
std::vector<IndividualPtr> latest_failures(const Island& island, std::size_t count,
                                           const IndividualPtr& parent);

}  // namespace kernelsmith

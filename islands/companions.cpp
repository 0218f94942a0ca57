#include "companions.hpp"

#include <algorithm>

namespace kernelsmith {
namespace {

/// An inspiration is the farthest of this many random elites. One would be no preference at all; many would
/// show the same corner of the grid every time.
constexpr int kCandidates = 4;

double distance_to_nearest(const Grid& grid, Cell cell, const std::vector<Cell>& others) {
  double nearest = 1;
  for (const Cell other : others) nearest = std::min(nearest, grid.distance(cell, other));
  return nearest;
}

/// Takes the farthest from `shown` of a few random elites out of `pool`.
const Elite* take_far(std::vector<const Elite*>& pool, const Grid& grid, const std::vector<Cell>& shown,
                      Rng& rng) {
  std::size_t farthest = 0;
  double distance = -1;
  for (int i = 0; i < kCandidates; ++i) {
    const auto candidate = static_cast<std::size_t>(rng.below(pool.size()));
    const double its_distance = distance_to_nearest(grid, pool[candidate]->cell, shown);
    if (its_distance <= distance) continue;
    farthest = candidate;
    distance = its_distance;
  }
  std::swap(pool[farthest], pool.back());
  const Elite* taken = pool.back();
  pool.pop_back();
  return taken;
}

}  // namespace

IndividualPtr draw_rejection(std::span<const IndividualPtr> rejections, Rng& rng) {
  if (rejections.empty()) return nullptr;
  std::vector<double> weights;
  for (std::size_t rank = 0; rank < rejections.size(); ++rank)
    weights.push_back(1.0 / static_cast<double>(1 + rank));
  return rejections[rng.weighted(weights)];
}

std::vector<IndividualPtr> draw_inspirations(const Archive& archive, std::size_t count,
                                             const Selection& selection, Rng& rng) {
  if (count == 0) return {};
  const auto stands = [&](const IndividualPtr& one) {
    return one == selection.parent || std::ranges::find(selection.top, one) != selection.top.end();
  };
  std::vector<const Elite*> pool;
  for (const auto& elite : archive.elites())
    if (!stands(elite.individual)) pool.push_back(&elite);
  std::vector<IndividualPtr> inspirations;
  std::vector<Cell> shown{archive.grid().cell_of(*selection.parent->evaluation.metrics())};
  while (inspirations.size() < count && !pool.empty()) {
    const Elite* elite = take_far(pool, archive.grid(), shown, rng);
    inspirations.push_back(elite->individual);
    shown.push_back(elite->cell);
  }
  return inspirations;
}

std::vector<IndividualPtr> latest_failures(const Island& island, std::size_t count,
                                           const IndividualPtr& parent) {
  std::vector<IndividualPtr> failures;
  for (const auto& failure : island.recent_failures()) {
    if (failures.size() == count) break;
    if (failure != parent) failures.push_back(failure);
  }
  std::stable_sort(failures.begin(), failures.end(), [](const IndividualPtr& a, const IndividualPtr& b) {
    return a->evaluation.rejection()->stage > b->evaluation.rejection()->stage;
  });
  return failures;
}

}  // namespace kernelsmith

// The default sampler: explores, exploits or weighs the elites of an island to choose a parent and its
// inspirations.
#include <algorithm>
#include <array>
#include <cmath>

#include <kernelsmith/islands/sampler.hpp>

namespace kernelsmith {
namespace {

/// An inspiration is the farthest of this many random elites. One would be no preference at all; many would
/// show the same corner of the grid every time.
constexpr int kCandidates = 4;

const Elite& explore(const Archive& archive, Rng& rng) {
  return archive.elites()[static_cast<std::size_t>(rng.below(archive.elites().size()))];
}

const Elite& exploit(const Archive& archive, double fraction, Rng& rng) {
  const auto elites = static_cast<double>(archive.elites().size());
  const auto best = static_cast<std::uint64_t>(std::ceil(fraction * elites));
  return archive.ranked(static_cast<std::size_t>(rng.below(best)));
}

const Elite& weighted(const Archive& archive, Rng& rng) {
  std::vector<double> weights;
  weights.reserve(archive.elites().size());
  for (const auto& elite : archive.elites()) weights.push_back(elite.fitness);
  return archive.elites()[rng.weighted(weights)];
}

const Elite& draw_parent(const Archive& archive, const MixtureOptions& options, Rng& rng) {
  const std::array shares{options.explore, options.exploit, options.weighted};
  switch (rng.weighted(shares)) {
    case 0:
      return explore(archive, rng);
    case 1:
      return exploit(archive, options.elite_fraction, rng);
    default:
      return weighted(archive, rng);
  }
}

IndividualPtr draw_rejection(std::span<const IndividualPtr> rejections, Rng& rng) {
  if (rejections.empty()) return nullptr;
  std::vector<double> weights;
  for (std::size_t rank = 0; rank < rejections.size(); ++rank)
    weights.push_back(1.0 / static_cast<double>(1 + rank));
  return rejections[rng.weighted(weights)];
}

/// The best elites whose cells are not in `used`, which gains theirs.
std::vector<IndividualPtr> draw_top(const Archive& archive, std::size_t count, std::vector<Cell>& used) {
  std::vector<IndividualPtr> top;
  const Cell parent = used.front();
  for (std::size_t rank = 0; rank < archive.elites().size() && top.size() < count; ++rank) {
    const Elite& elite = archive.ranked(rank);
    if (elite.cell == parent) continue;
    top.push_back(elite.individual);
    used.push_back(elite.cell);
  }
  return top;
}

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

std::vector<IndividualPtr> draw_inspirations(const Archive& archive, std::size_t count,
                                             const std::vector<Cell>& used, Rng& rng) {
  if (count == 0) return {};
  std::vector<const Elite*> pool;
  for (const auto& elite : archive.elites()) {
    if (std::find(used.begin(), used.end(), elite.cell) == used.end()) pool.push_back(&elite);
  }
  std::vector<IndividualPtr> inspirations;
  std::vector<Cell> shown{used.front()};
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

bool is_share(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

Result<MixtureSampler> MixtureSampler::create(MixtureOptions options) {
  const bool are_shares =
      is_share(options.explore) && is_share(options.exploit) && is_share(options.weighted);
  if (!are_shares || !(options.explore + options.exploit + options.weighted > 0)) {
    return fail(ErrorCode::invalid_argument,
                "explore, exploit and weighted must be numbers from zero up, and not all of them zero",
                "sampler");
  }
  if (!(options.elite_fraction > 0 && options.elite_fraction <= 1)) {
    return fail(ErrorCode::invalid_argument, "elite_fraction must be above 0 and at most 1", "sampler");
  }
  return MixtureSampler(options);
}

Selection MixtureSampler::sample(const Island& island, Rng& rng) const {
  const Archive& archive = island.archive();
  Selection selection;
  if (archive.elites().empty()) {
    selection.parent = draw_rejection(island.rejections(), rng);
  } else {
    const Elite& parent = draw_parent(archive, options_, rng);
    std::vector<Cell> used{parent.cell};
    selection.parent = parent.individual;
    selection.top = draw_top(archive, options_.top, used);
    selection.inspirations = draw_inspirations(archive, options_.inspirations, used, rng);
  }
  selection.failures = latest_failures(island, options_.failures, selection.parent);
  return selection;
}

}  // namespace kernelsmith

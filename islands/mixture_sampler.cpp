// Chooses a parent and its inspirations from the elites of an island by exploring, exploiting or weighting by
// fitness.
#include <array>
#include <cmath>

#include <kernelsmith/islands/sampler.hpp>

#include "companions.hpp"

namespace kernelsmith {
namespace {

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

/// The best elites except the parent.
std::vector<IndividualPtr> draw_top(const Archive& archive, std::size_t count, Cell parent) {
  std::vector<IndividualPtr> top;
  for (std::size_t rank = 0; rank < archive.elites().size() && top.size() < count; ++rank) {
    const Elite& elite = archive.ranked(rank);
    if (elite.cell == parent) continue;
    top.push_back(elite.individual);
  }
  return top;
}

bool is_share(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

Result<MixtureSampler> MixtureSampler::create(MixtureOptions options) {
  const bool are_shares =
      is_share(options.explore) && is_share(options.exploit) && is_share(options.weighted);
  if (!are_shares || !(options.explore + options.exploit + options.weighted > 0)) {
    return fail(ErrorCode::invalid_argument,
                "explore, exploit and weighted must be numbers of at least 0, and not all 0", "sampler");
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
    selection.parent = parent.individual;
    selection.top = draw_top(archive, options_.top, parent.cell);
    selection.inspirations = draw_inspirations(archive, options_.inspirations, selection, rng);
  }
  selection.failures = latest_failures(island, options_.failures, selection.parent);
  return selection;
}

}  // namespace kernelsmith

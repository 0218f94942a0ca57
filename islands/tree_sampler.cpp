// The default sampler. After its opening it prefers parents with a high fitness of which few children were
// asked for.
#include <algorithm>
#include <cmath>

#include <kernelsmith/islands/sampler.hpp>

#include "companions.hpp"

namespace kernelsmith {
namespace {

const IndividualPtr& first_parent(const Island& island) {
  const auto roots = island.roots();
  return roots[static_cast<std::size_t>(island.visits() % roots.size())];
}

/// Value and prior use the rank, because the distances between fitness values differ from task to task.
const IndividualPtr& most_promising(const Island& island, double exploration) {
  const auto leaders = island.leaders();
  const double last = std::max(1.0, static_cast<double>(leaders.size()) - 1);
  const double all = std::sqrt(1 + static_cast<double>(island.visits()));
  std::size_t best = 0;
  double highest = -1;
  for (std::size_t rank = 0; rank < leaders.size(); ++rank) {
    const auto place = static_cast<double>(rank);
    const auto visits = static_cast<double>(island.visits(leaders[rank]->program->id));
    const double bound = 1 - place / last + exploration * all / ((1 + place) * (1 + visits));
    if (bound <= highest) continue;
    highest = bound;
    best = rank;
  }
  return leaders[best];
}

/// A search that improves loses by other parents, and one that does not improve has little to lose.
bool leaves_the_best(const Island& island, const TreeOptions& options, Rng& rng) {
  if (options.uniform == 0) return false;
  const auto stalled = static_cast<double>(island.stalled());
  return rng.chance(options.uniform * stalled / (stalled + options.patience));
}

/// Beyond the best cells of a large grid are programs that nothing good comes from.
const IndividualPtr& elite_of_a_good_cell(const Archive& archive, std::size_t cells, Rng& rng) {
  const std::size_t good = std::min(cells, archive.elites().size());
  return archive.ranked(static_cast<std::size_t>(rng.below(good))).individual;
}

std::vector<IndividualPtr> best_others(const Island& island, std::size_t count, const IndividualPtr& parent) {
  std::vector<IndividualPtr> top;
  for (const auto& leader : island.leaders()) {
    if (top.size() == count) break;
    if (leader != parent) top.push_back(leader);
  }
  return top;
}

}  // namespace

Result<TreeSampler> TreeSampler::create(TreeOptions options) {
  if (!(std::isfinite(options.exploration) && options.exploration >= 0))
    return fail(ErrorCode::invalid_argument, "exploration must be a number of at least 0", "sampler");
  if (!(options.uniform >= 0 && options.uniform <= 1))
    return fail(ErrorCode::invalid_argument, "uniform must be a number from 0 to 1", "sampler");
  if (options.cells == 0) return fail(ErrorCode::invalid_argument, "cells must be at least 1", "sampler");
  if (!(std::isfinite(options.patience) && options.patience > 0))
    return fail(ErrorCode::invalid_argument, "patience must be a number above 0", "sampler");
  return TreeSampler(options);
}

Selection TreeSampler::sample(const Island& island, Rng& rng) const {
  Selection selection;
  if (island.leaders().empty()) {
    selection.parent = draw_rejection(island.rejections(), rng);
  } else if (!island.roots().empty() && opens(island)) {
    selection.parent = first_parent(island);
  } else {
    selection.parent = leaves_the_best(island, options_, rng)
                           ? elite_of_a_good_cell(island.archive(), options_.cells, rng)
                           : most_promising(island, options_.exploration);
    selection.top = best_others(island, options_.top, selection.parent);
    selection.inspirations = draw_inspirations(island.archive(), options_.inspirations, selection, rng);
  }
  selection.failures = latest_failures(island, options_.failures, selection.parent);
  return selection;
}

}  // namespace kernelsmith

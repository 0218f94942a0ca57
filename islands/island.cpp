#include <algorithm>

#include <kernelsmith/islands/island.hpp>

namespace kernelsmith {
namespace {

void truncate(std::vector<IndividualPtr>& individuals, std::size_t size) {
  if (individuals.size() > size) individuals.resize(size);
}

bool further(const IndividualPtr& a, const IndividualPtr& b) {
  return a->evaluation.rejection()->stage > b->evaluation.rejection()->stage;
}

}  // namespace

Island::Island(Grid grid, IslandOptions options) : options_(options), archive_(std::move(grid)) {
  options_.rejections = std::max<std::size_t>(options_.rejections, 1);
}

std::optional<AddOutcome> Island::add(IndividualPtr individual) {
  if (individual->evaluation.accepted()) return archive_.add(std::move(individual));

  // In front of its equals, because the latest arrival comes first.
  rejections_.insert(std::lower_bound(rejections_.begin(), rejections_.end(), individual, further),
                     individual);
  truncate(rejections_, options_.rejections);
  recent_failures_.insert(recent_failures_.begin(), std::move(individual));
  truncate(recent_failures_, options_.recent_failures);
  return std::nullopt;
}

AddOutcome Island::settle(IndividualPtr challenger, ProgramId incumbent, Comparison verdict) {
  return archive_.settle(std::move(challenger), incumbent, verdict);
}

std::vector<Cell> Island::withdraw(ProgramId program) { return archive_.withdraw(program); }

}  // namespace kernelsmith

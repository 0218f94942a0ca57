#include <algorithm>

#include <kernelsmith/islands/migration.hpp>

namespace kernelsmith {

std::vector<IndividualPtr> BestMigration::migrants(const Island& from, const Island&, Rng&) const {
  const Archive& archive = from.archive();
  std::vector<IndividualPtr> chosen;
  for (std::size_t rank = 0; rank < std::min(count_, archive.elites().size()); ++rank) {
    chosen.push_back(archive.ranked(rank).individual);
  }
  return chosen;
}

std::vector<IndividualPtr> WeightedMigration::migrants(const Island& from, const Island&, Rng& rng) const {
  const auto elites = from.archive().elites();
  std::vector<std::size_t> left(elites.size());
  std::vector<double> weights(elites.size());
  for (std::size_t i = 0; i < elites.size(); ++i) {
    left[i] = i;
    weights[i] = elites[i].fitness;
  }
  std::vector<IndividualPtr> chosen;
  while (chosen.size() < count_ && !left.empty()) {
    const auto drawn = static_cast<std::ptrdiff_t>(rng.weighted(weights));
    chosen.push_back(elites[left[static_cast<std::size_t>(drawn)]].individual);
    left.erase(left.begin() + drawn);
    weights.erase(weights.begin() + drawn);
  }
  return chosen;
}

}  // namespace kernelsmith

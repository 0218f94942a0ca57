#include "companions.hpp"

#include <algorithm>
#include <map>

namespace kernelsmith {
namespace {

/// An inspiration is the farthest of this many random elites. With one, there would be no preference. With
/// many, the same corner of the grid would be shown every time.
constexpr int kCandidates = 4;

double distance_to_nearest(const Grid& grid, Cell cell, const std::vector<Cell>& others) {
  double nearest = 1;
  for (const Cell other : others) nearest = std::min(nearest, grid.distance(cell, other));
  return nearest;
}

/// A pool of an archive's elites, except the parent and the top programs. The last elite replaces one that is
/// taken. Only differences from the archive's order are stored, so the archive's size does not matter.
class Pool {
 public:
  Pool(const Archive& archive, const Selection& selection) : elites_(archive.elites()) {
    leave_out(archive, selection.parent);
    for (const IndividualPtr& one : selection.top) leave_out(archive, one);
    std::ranges::sort(left_out_);
    left_out_.erase(std::unique(left_out_.begin(), left_out_.end()), left_out_.end());
    size_ = elites_.size() - left_out_.size();
  }

  std::size_t size() const { return size_; }

  const Elite& at(std::size_t place) const {
    if (const auto found = moved_.find(place); found != moved_.end()) place = found->second;
    for (const std::size_t out : left_out_)
      if (out <= place) ++place;
    return elites_[place];
  }

  void take(std::size_t place) {
    --size_;
    const auto last = moved_.find(size_);
    moved_[place] = last == moved_.end() ? size_ : last->second;
  }

 private:
  /// Leaves out an individual, which can be an elite only of its own cell.
  void leave_out(const Archive& archive, const IndividualPtr& one) {
    const Elite* elite = archive.find(archive.grid().cell_of(*one->evaluation.metrics()));
    if (!elite) return;
    for (auto at = static_cast<std::size_t>(elite - elites_.data());
         at < elites_.size() && elites_[at].cell == elite->cell; ++at)
      if (elites_[at].individual == one) return left_out_.push_back(at);
  }

  std::span<const Elite> elites_;
  std::vector<std::size_t> left_out_;         ///< ascending
  std::map<std::size_t, std::size_t> moved_;  ///< the elite now at a vacated place
  std::size_t size_ = 0;
};

/// Draws a few random elites from `pool`, and takes out the one that is farthest from `shown`.
const Elite& take_far(Pool& pool, const Grid& grid, const std::vector<Cell>& shown, Rng& rng) {
  std::size_t farthest = 0;
  double distance = -1;
  for (int i = 0; i < kCandidates; ++i) {
    const auto candidate = static_cast<std::size_t>(rng.below(pool.size()));
    const double its_distance = distance_to_nearest(grid, pool.at(candidate).cell, shown);
    if (its_distance <= distance) continue;
    farthest = candidate;
    distance = its_distance;
  }
  const Elite& taken = pool.at(farthest);
  pool.take(farthest);
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
  Pool pool(archive, selection);
  std::vector<IndividualPtr> inspirations;
  std::vector<Cell> shown{archive.grid().cell_of(*selection.parent->evaluation.metrics())};
  while (inspirations.size() < count && pool.size() > 0) {
    const Elite& elite = take_far(pool, archive.grid(), shown, rng);
    inspirations.push_back(elite.individual);
    shown.push_back(elite.cell);
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

#include <algorithm>
#include <limits>
#include <utility>

#include <kernelsmith/tuning/space.hpp>

namespace kernelsmith {
namespace {

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message), {}, {}}; }

std::uint64_t product(const std::vector<TuningDimension>& dimensions) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t result = 1;
  for (const TuningDimension& dimension : dimensions) {
    if (result > kMost / dimension.size) return kMost;
    result *= dimension.size;
  }
  return result;
}

bool fits(const TuningPoint& point, const std::vector<TuningDimension>& dimensions) {
  if (point.size() != dimensions.size()) return false;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (point[i] >= dimensions[i].size) return false;
  }
  return true;
}

}  // namespace

Result<TuningSpace> TuningSpace::create(std::vector<TuningDimension> dimensions,
                                        std::optional<std::vector<TuningPoint>> valid) {
  if (dimensions.empty()) return refused("a tuning space needs a dimension");
  for (const TuningDimension& dimension : dimensions) {
    if (dimension.size == 0) return refused("dimension '" + dimension.name + "' has no values");
    if (!dimension.numbers.empty() && dimension.numbers.size() != dimension.size) {
      return refused("dimension '" + dimension.name + "' needs one number for each value");
    }
  }
  TuningSpace space;
  space.dimensions_ = std::move(dimensions);
  space.size_ = product(space.dimensions_);
  if (!valid) return space;
  if (valid->empty()) return refused("the list of valid points is empty");
  for (const TuningPoint& point : *valid) {
    if (!fits(point, space.dimensions_)) return refused("a valid point lies outside the dimensions");
  }
  std::ranges::sort(*valid);
  valid->erase(std::unique(valid->begin(), valid->end()), valid->end());
  space.listed_ = std::move(*valid);
  space.known_ = Set(space.listed_.begin(), space.listed_.end());
  space.size_ = space.listed_.size();
  return space;
}

bool TuningSpace::contains(const TuningPoint& point) const {
  return listed_.empty() ? fits(point, dimensions_) : known_.contains(point);
}

TuningPoint TuningSpace::random(Rng& rng) const {
  if (!listed_.empty()) return listed_[static_cast<std::size_t>(rng.below(listed_.size()))];
  TuningPoint point;
  for (const TuningDimension& dimension : dimensions_) {
    point.push_back(static_cast<std::size_t>(rng.below(dimension.size)));
  }
  return point;
}

TuningPoint TuningSpace::first() const {
  return listed_.empty() ? TuningPoint(dimensions_.size(), 0) : listed_.front();
}

TuningPoint TuningSpace::after(const TuningPoint& point) const {
  if (!listed_.empty()) {
    const auto next = std::ranges::upper_bound(listed_, point);
    return next == listed_.end() ? listed_.front() : *next;
  }
  TuningPoint next = point;
  for (std::size_t i = next.size(); i-- > 0;) {
    if (++next[i] < dimensions_[i].size) return next;
    next[i] = 0;
  }
  return next;
}

std::vector<TuningPoint> TuningSpace::neighbours(const TuningPoint& point) const {
  std::vector<TuningPoint> result;
  TuningPoint near = point;
  for (std::size_t i = 0; i < point.size(); ++i) {
    for (std::size_t value = 0; value < dimensions_[i].size; ++value) {
      if (value == point[i]) continue;
      near[i] = value;
      if (contains(near)) result.push_back(near);
    }
    near[i] = point[i];
  }
  return result;
}

std::size_t TuningSpace::Hash::operator()(const TuningPoint& point) const {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::size_t value : point) hash = (hash ^ value) * 0x100000001b3;
  return hash;
}

}  // namespace kernelsmith

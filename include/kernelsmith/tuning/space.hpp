// The space of a program's knobs: the values of each knob, and the valid points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>

namespace kernelsmith {

/// The index of each dimension's value.
using TuningPoint = std::vector<std::size_t>;

/// One knob. Numbers have an order and distances; a choice has neither.
struct TuningDimension {
  std::string name;
  std::size_t size = 0;              ///< how many values it has, at least one
  std::vector<double> numbers = {};  ///< one for each value, in any order; empty for a choice

  friend bool operator==(const TuningDimension&, const TuningDimension&) = default;
};

/// All points of the dimensions, or only the points of a list. Immutable.
class TuningSpace {
 public:
  /// Errors: `invalid_argument` for no dimensions, a dimension without values, a dimension whose `numbers`
  /// differ in count from its values, an invalid point in the list, or an empty list. Duplicate points count
  /// once.
  static Result<TuningSpace> create(std::vector<TuningDimension> dimensions,
                                    std::optional<std::vector<TuningPoint>> valid = std::nullopt);

  const std::vector<TuningDimension>& dimensions() const { return dimensions_; }
  bool contains(const TuningPoint& point) const;
  /// The number of points; the largest std::size_t if it overflows.
  std::uint64_t size() const { return size_; }
  TuningPoint random(Rng& rng) const;
  /// The first point of a fixed order. The second function returns the point after `point`; after the last
  /// comes the first.
  TuningPoint first() const;
  TuningPoint after(const TuningPoint& point) const;
  /// The points that differ from `point` in one dimension.
  std::vector<TuningPoint> neighbours(const TuningPoint& point) const;

  /// For unordered containers of points.
  struct Hash {
    std::size_t operator()(const TuningPoint& point) const;
  };
  using Set = std::unordered_set<TuningPoint, Hash>;

 private:
  TuningSpace() = default;

  std::vector<TuningDimension> dimensions_;
  std::vector<TuningPoint> listed_;  ///< sorted list; empty if all points exist
  Set known_;                        ///< the listed ones
  std::uint64_t size_ = 0;
};

}  // namespace kernelsmith

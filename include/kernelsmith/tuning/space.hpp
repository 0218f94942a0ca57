// The space that a program's knobs span: what each knob's values are, and which points exist.
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

/// All points, or those of a list. Immutable.
class TuningSpace {
 public:
  /// `invalid_argument` for no dimension, a dimension without values or with another number of numbers, and
  /// for a point of the list that does not fit or a list without points. Points given twice count once.
  static Result<TuningSpace> create(std::vector<TuningDimension> dimensions,
                                    std::optional<std::vector<TuningPoint>> valid = std::nullopt);

  const std::vector<TuningDimension>& dimensions() const { return dimensions_; }
  bool contains(const TuningPoint& point) const;
  /// How many points there are; the largest number if that does not fit.
  std::uint64_t size() const { return size_; }
  TuningPoint random(Rng& rng) const;
  /// The first point of a fixed order, and the one behind `point`; behind the last comes the first.
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
  std::vector<TuningPoint> listed_;  ///< sorted; empty if all points exist
  Set known_;                        ///< the listed ones
  std::uint64_t size_ = 0;
};

}  // namespace kernelsmith

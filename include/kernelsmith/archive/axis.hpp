// One dimension of the MAP-Elites grid: which feature it reads and how the feature's range is cut into bins.
// Axes are declared when the run starts and never change afterwards.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// `bins` bins of equal width over [low, high]; the edges between them have 12 significant digits.
struct LinearScale {
  double low = 0;
  double high = 1;
  std::size_t bins = 10;

  friend bool operator==(const LinearScale&, const LinearScale&) = default;
};

/// `bins` bins of equal ratio over [low, high], 0 < low; the edges have 12 significant digits.
struct LogarithmicScale {
  double low = 1;
  double high = 10;
  std::size_t bins = 10;

  friend bool operator==(const LogarithmicScale&, const LogarithmicScale&) = default;
};

/// n strictly ascending edges make n - 1 bins. A bin includes its lower edge.
struct EdgeScale {
  std::vector<double> edges;

  friend bool operator==(const EdgeScale&, const EdgeScale&) = default;
};

/// One bin for each category; the feature's value is the category's index, counted from 0 and rounded.
struct CategoricalScale {
  std::vector<std::string> categories;

  friend bool operator==(const CategoricalScale&, const CategoricalScale&) = default;
};

/// An axis as configured. Axis::create validates it.
struct AxisSpec {
  std::string feature;  ///< the name in Metrics::features(), or "fitness" for the fitness itself
  std::variant<LinearScale, LogarithmicScale, EdgeScale, CategoricalScale> scale;

  friend bool operator==(const AxisSpec&, const AxisSpec&) = default;
};

/// A validated axis. Immutable; safe to share between threads.
class Axis {
 public:
  static constexpr std::size_t kMaxBins = 10'000;

  /// Refuses (`invalid_argument`, `where` is the feature's name) an empty name, bounds that are not finite
  /// and ascending, a logarithmic range that reaches zero, fewer than one or more than kMaxBins bins, edges
  /// that do not ascend, and categories that are empty or repeat.
  static Result<Axis> create(AxisSpec spec);

  const AxisSpec& spec() const { return spec_; }
  const std::string& feature() const { return spec_.feature; }
  std::size_t bins() const { return inner_edges_.size() + 1; }
  bool categorical() const { return std::holds_alternative<CategoricalScale>(spec_.scale); }

  /// The bin of `value`, 0 to bins() - 1. A value outside the range goes to the nearest bin. A bin includes
  /// its lower edge; the last one also includes its upper edge.
  std::size_t bin_of(double value) const;

  /// The bin's label for people: "[8, 16)", "< 16" or ">= 64" for the outer bins, or the category's name.
  /// Edges have at least three digits, and as many as distinguish them.
  std::string label(std::size_t bin) const;

  /// The axis as one line, such as "feature linear 0 1 10". Different axes have different texts.
  std::string to_text() const;

  friend bool operator==(const Axis&, const Axis&) = default;

 private:
  Axis() = default;
  AxisSpec spec_;
  std::vector<double> inner_edges_;  ///< the edges between neighbouring bins, ascending
  int digits_ = 0;                   ///< number of digits of an edge in a label
};

}  // namespace kernelsmith

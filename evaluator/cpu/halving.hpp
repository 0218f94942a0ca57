// What it costs to leave out half of what an output is made of: no budget may have room for that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <kernelsmith/core/rng.hpp>

#include "answers.hpp"
#include "bank.hpp"

namespace kernelsmith {

/// Of every two neighbouring cache lines one as a copy of the other; where `pairs_for_one` is above 1, of one
/// pair in so many that follow each other. What a function makes of such inputs is what a kernel makes of the
/// plain ones that leaves out half of them and counts the other half twice. Which pairs, and which of two
/// lines, `choice` says for all tensors alike. Each `turn` takes the next pairs: however few a tensor has,
/// none of them is meant twice before so many turns are over.
inline Bytes halved(const Bytes& from, std::uint64_t choice, std::uint64_t pairs_for_one = 1,
                    std::uint64_t turn = 0) {
  constexpr std::size_t kLine = 64, kPair = 2 * kLine;
  Rng pairs(choice, 0, Purpose::evaluation), lines(choice, 1 + turn, Purpose::evaluation);
  Bytes to = from;
  for (std::size_t group = 0; group + kPair <= to.size(); group += kPair * pairs_for_one) {
    const std::size_t at = group + kPair * ((pairs.below(pairs_for_one) + turn) % pairs_for_one);
    const std::size_t kept = lines.below(2) == 0 ? 0 : kLine;
    if (at + kPair <= to.size()) std::memcpy(to.data() + at + (kLine - kept), from.data() + at + kept, kLine);
  }
  return to;
}

/// Of the pairs that a variant halves. Few enough that most outputs keep the elements that they are made from
/// one by one, beside which a sum's share can be small.
inline constexpr std::uint64_t kPairsForOne = 8;

/// What leaving out half changes, as a standard deviation.
struct HalfCost {
  double over_scale = 0;      ///< over an element's scale S
  double over_magnitude = 0;  ///< over |y|

  /// Whether it is seen in the output, and next to nothing beside what rounding the inputs changes there, as
  /// near a pole, about many jumps, or where a steep function is a factor. The least budget is room for most
  /// of the terms then.
  bool is_hidden(double unit_roundoff) const {
    constexpr double kHardlyMore = 0x1p12, kSteep = 0x1p10;
    return over_magnitude > 0 && over_scale < kHardlyMore * unit_roundoff &&
           over_magnitude > kSteep * over_scale;
  }
};

/// Gathered over an output's elements.
class CostOfHalving {
 public:
  /// `answers` tell the outputs' scales; `halves` are the answers to inputs of which a few pairs are halved.
  template <class Real>
  void add(const Answers<Real>& answers, const std::vector<const std::byte*>& halves, Scale scale,
           std::size_t elements) {
    // Odd, so that it does not meet the same place in all lines.
    const std::size_t step = elements / kMostOutputs | 1U;
    for (std::size_t i = 0; i < elements; i += step) {
      const double size = answers.scale(scale, i);
      for (const std::byte* const half : halves) {
        const double change = std::fabs(static_cast<double>(load<Real>(half, i) - answers.plain(i)));
        if (!std::isfinite(size) || !std::isfinite(change) || !(size > 0)) continue;
        over_scale_.push_back(change / size);
        if (const double magnitude = answers.magnitude(i); magnitude > 0)
          over_magnitude_.push_back(change / magnitude);
      }
    }
  }

  std::size_t samples() const { return over_scale_.size(); }

  HalfCost cost() const { return {of_all_pairs(over_scale_), of_all_pairs(over_magnitude_)}; }

 private:
  static constexpr std::size_t kMostOutputs = 4096;

  /// What all pairs would change. By the upper quartile of what a few change: where elements are carried by
  /// some inputs, and a sum is a small part of them, few are those whose carriers changed; and where many
  /// depend on no sum, they do not hide the others. A quartile of few scatters too much.
  static double of_all_pairs(std::vector<double> changes) {
    constexpr double kQuartileOfNormals = 1.15;
    constexpr std::size_t kFew = 64;
    if (changes.size() < kFew) {
      MeanSquare<double> all;
      for (const double change : changes) all.add(change);
      return all.root() * std::sqrt(static_cast<double>(kPairsForOne));
    }
    const auto quartile = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() * 3 / 4);
    std::ranges::nth_element(changes, quartile);
    return *quartile / kQuartileOfNormals * std::sqrt(static_cast<double>(kPairsForOne));
  }

  std::vector<double> over_scale_, over_magnitude_;
};

}  // namespace kernelsmith

// What it costs to leave out half of what an output is made of: no budget may have room for that.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <kernelsmith/core/rng.hpp>

#include "answers.hpp"
#include "bank.hpp"

namespace kernelsmith {

/// Of every two neighbouring cache lines one as a copy of the other. What a function makes of such inputs is
/// what a kernel makes of the plain ones that leaves out half of them and counts the other half twice. Which
/// of two lines it is, `choice` says for all tensors alike.
inline Bytes halved(const Bytes& from, std::uint64_t choice) {
  constexpr std::size_t kLine = 64;
  Rng rng(choice, 0, Purpose::evaluation);
  Bytes to = from;
  for (std::size_t at = 0; at + 2 * kLine <= to.size(); at += 2 * kLine) {
    const bool first = rng.below(2) == 0;
    std::memcpy(to.data() + at + (first ? kLine : 0), from.data() + at + (first ? 0 : kLine), kLine);
  }
  return to;
}

/// Gathered over all outputs.
class CostOfHalving {
 public:
  /// `answers` are to the plain inputs, to their absolute values, and to halved ones.
  template <class Real>
  void add(const Answers<Real>& answers, Scale scale, std::size_t elements) {
    for (std::size_t i = 0; i < elements; ++i) {
      const double size = scale == Scale::absolute ? answers.scale(scale, i) : answers.magnitude(i);
      double squares = 0;
      for (std::size_t v = kFirstPerturbed; v < answers.of.size(); ++v)
        squares += std::pow(static_cast<double>(load<Real>(answers.of[v], i) - answers.plain(i)), 2);
      if (!std::isfinite(size) || !std::isfinite(squares)) continue;
      changes_ += squares / static_cast<double>(answers.of.size() - kFirstPerturbed);
      scales_ += size * size;
    }
  }

  /// The RMS of what halving changes, over that of the outputs' scales.
  double over_scale() const {
    return scales_ > 0 ? std::sqrt(changes_ / scales_) : std::numeric_limits<double>::infinity();
  }

 private:
  double changes_ = 0, scales_ = 0;
};

}  // namespace kernelsmith

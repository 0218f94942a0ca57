#include "runner/placement.hpp"

#include <algorithm>
#include <cstdlib>

#include <sys/random.h>

namespace kernelsmith::cuda {

RandomBelow random_from_system() {
  return [](std::uint64_t limit) {
    const std::uint64_t unfair = -limit % limit;  // rejects low numbers that would favour some remainders
    while (true) {
      std::uint64_t number = 0;
      if (::getrandom(&number, sizeof number, 0) == sizeof number && number >= unfair) return number % limit;
    }
  };
}

std::uint64_t Placement::gap_begin(std::size_t index) const {
  return index == 0 ? 0 : pieces_[index - 1].begin + pieces_[index - 1].count;
}

std::uint64_t Placement::choices(std::size_t index, std::uint64_t count) const {
  const std::uint64_t end = index == pieces_.size() ? granules_ : pieces_[index].begin;
  const std::uint64_t size = end - gap_begin(index);
  return size >= count + 2 ? size - count - 1 : 0;
}

std::optional<std::uint64_t> Placement::take(std::uint64_t count, const RandomBelow& below) {
  if (count > granules_) return std::nullopt;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i <= pieces_.size(); ++i) all += choices(i, count);
  if (all == 0) return std::nullopt;
  std::uint64_t chosen = below(all);
  std::size_t gap = 0;
  while (chosen >= choices(gap, count)) chosen -= choices(gap++, count);
  const std::uint64_t begin = gap_begin(gap) + 1 + chosen;
  pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(gap), Piece{begin, count});
  return begin;
}

void Placement::give_back(std::uint64_t begin) {
  std::erase_if(pieces_, [&](const Piece& piece) { return piece.begin == begin; });
}

}  // namespace kernelsmith::cuda

// Places pieces of memory at random in a large range of addresses, with gaps around each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace kernelsmith::cuda {

/// A uniform random number below `limit`.
using RandomBelow = std::function<std::uint64_t(std::uint64_t limit)>;

/// Random numbers of the operating system, so that no candidate can guess the next address.
RandomBelow random_from_system();

/// Sizes and addresses are counted in granules. There is at least one free granule on both sides of each
/// piece. Not thread-safe.
class Placement {
 public:
  explicit Placement(std::uint64_t granules) : granules_(granules) {}

  /// Takes a place, each free one with the same probability; empty if none is large enough.
  std::optional<std::uint64_t> take(std::uint64_t count, const RandomBelow& below);
  void give_back(std::uint64_t begin);

 private:
  struct Piece {
    std::uint64_t begin, count;
  };
  /// The number of places in the gap before piece `index` (the last gap follows the last piece).
  std::uint64_t choices(std::size_t index, std::uint64_t count) const;
  std::uint64_t gap_begin(std::size_t index) const;

  std::uint64_t granules_;
  std::vector<Piece> pieces_;  ///< in the order of addresses
};

}  // namespace kernelsmith::cuda

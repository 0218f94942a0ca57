// What stood in a batch's outputs when its clock stopped. Later batches are timed before outputs are
// compared, and a kernel that puts its work off to them can share what two calls have in common, or do them
// side by side.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "inputs.hpp"

namespace kernelsmith {

/// Copies of parts of outputs. Not thread-safe.
class Standstill {
 public:
  /// Copies `lines` lines of 64 bytes at most, one at a secret place in each of as many equal parts of the
  /// output, which must live as long as this or until clear(). False where that is not all of it.
  bool note(std::span<const std::byte> output, std::size_t lines, SecretStream& random);
  void clear() { noted_.clear(); }

  /// Whether all that was copied stands there still.
  bool holds() const;

 private:
  static constexpr std::size_t kLine = 64;
  struct Line {
    std::span<const std::byte> place;
    std::array<std::byte, kLine> stood;
  };
  std::vector<Line> noted_;
};

}  // namespace kernelsmith

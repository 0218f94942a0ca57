// InputSchedule: chooses the sets of a shape's bank for the timed calls of one evaluation.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith::timing {

enum class Reuse {
  never,
  when_used_up,  ///< for trusted kernels: sets are reused in a new order
};

/// A secret permutation of the sets `first` to `end` - 1 with a cursor. Not thread-safe.
class InputSchedule {
 public:
  InputSchedule(std::size_t first, std::size_t end, Reuse reuse, SecretStream& random);

  std::size_t size() const { return order_.size(); }

  /// The number of sets that take() can still return.
  std::size_t left() const { return reuse_ == Reuse::never ? order_.size() - next_ : kWithoutEnd; }

  /// The next `n` sets, all different. Requires n <= left() and n <= size().
  std::vector<std::size_t> take(std::size_t n);

 private:
  static constexpr std::size_t kWithoutEnd = std::numeric_limits<std::size_t>::max() / 2;

  void shuffle();

  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
  Reuse reuse_;
  SecretStream* random_;
};

}  // namespace kernelsmith::timing

// Which sets of the bank a process of an object is shown, and in what order.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "inputs.hpp"

namespace kernelsmith {

/// Sets of one shape in a secret order. A new process begins with some that no process has met, then come
/// those that were met; the rest of the new ones is for later processes: one that lies ill or well in memory
/// must not be all that new sets tell.
class Hand {
 public:
  explicit Hand(std::vector<std::size_t> sets = {}) : order_(std::move(sets)) {}
  /// Just these sets, in this order.
  static Hand of(std::vector<std::size_t> sets);

  std::size_t size() const { return order_.size(); }
  /// How many more the process may be shown.
  std::size_t left() const { return end_ - next_; }
  /// Whether gather() must come before the next set is taken.
  bool stale() const { return stale_; }
  void make_stale() { stale_ = true; }

  /// How many sets that none has met a process gets at most, where it takes `rows` at a time: a few processes
  /// get some, in whole takes, since one set that was met spoils a comparison.
  std::size_t share_of_unmet(std::size_t rows) const;

  /// Orders the sets for a process: at most `unmet` of those that none has met come first. `first_met`: by
  /// set, 0 where none has.
  void gather(const std::vector<std::size_t>& first_met, std::size_t unmet, SecretStream& random);

  /// The next `count` sets, no more than are left().
  std::vector<std::size_t> take(std::size_t count);

 private:
  std::vector<std::size_t> order_;
  std::size_t next_ = 0, end_ = 0;
  bool stale_ = true;
};

/// An object's sets of one shape. Checks, warm-ups and trials of a candidate take other sets than its pairs
/// do, so that there are always pairs on sets that none of its processes has met.
struct Deal {
  /// All sets for everything.
  explicit Deal(std::size_t sets);
  /// Some, drawn by chance, for trials, and the rest for pairs.
  static Deal split(std::size_t sets, SecretStream& random);

  Hand trials, pairs;
  std::vector<std::size_t> first_met;  ///< by set: the first process that it was dealt to, from 1
  bool warm = false;                   ///< this process has done a batch
};

}  // namespace kernelsmith

// Side: one of two objects that are timed against each other, at one shape, and how many calls make a batch.
#pragma once

#include <cstddef>

#include "loaded_object.hpp"

namespace kernelsmith {

/// Of each side, in a pair.
inline constexpr std::size_t kBatchesOfPair = 2;

struct Side {
  LoadedObject& object;
  std::size_t shape;
  std::size_t calls = 1;  ///< of a batch
  double call_us = 0;     ///< as last seen

  /// Whether it is shown inputs of calls that are not to be made yet.
  bool sees_ahead() const { return calls > 1; }

  /// Chooses the batch's length by a few calls.
  Judged<void> size();

  /// Who is alone beside one that is not, and hardly slower, gets longer batches too: what a request costs on
  /// a busy machine would weigh on one side alone.
  void join(const Side& other);

  /// Lengthens batches that turned out much shorter than meant, at least twofold, and says whether it did.
  /// The first call can be slow on purpose: beside a short batch, what a request costs weighs much, and can
  /// be saved on.
  bool lengthen(double seen_us);

 private:
  std::size_t most_calls() const { return object.most_calls(shape, kBatchesOfPair); }
};

}  // namespace kernelsmith

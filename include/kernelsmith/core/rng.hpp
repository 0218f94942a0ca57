// Counter-based random numbers (Philox4x64-10; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC'11). A stream is named by (seed, ticket, purpose). The same name gives the same numbers on every machine
// and in every order of execution, so runs are repeatable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace kernelsmith {

/// What a stream is used for. These numbers are part of a run's history: never reuse or reorder them.
enum class Purpose : std::uint32_t {
  sampling = 1,    ///< choosing parents and inspirations
  operators = 2,   ///< choosing the operator and the model
  proposal = 3,    ///< what a proposer draws
  migration = 4,   ///< which individuals move
  evaluation = 5,  ///< what a fake evaluator draws; the judge's inputs come from a secret seed instead
  retry = 6,       ///< the random part of the pause before a retry
};

/// A random stream; a UniformRandomBitGenerator. Cheap to make and to copy. Not thread-safe: one stream, one
/// thread.
class Rng {
 public:
  using result_type = std::uint64_t;

  Rng(std::uint64_t seed, std::uint64_t ticket, Purpose purpose);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()();

  /// A whole number from [0, n), uniform without bias. Requires n > 0.
  std::uint64_t below(std::uint64_t n);

  /// A number from [0, 1), uniform, with 53 bits.
  double uniform();

  /// True with probability p.
  bool chance(double p) { return uniform() < p; }

  /// Standard normal (Box and Muller).
  double normal();

  /// Draws an index with a probability proportional to its weight. A weight that is not finite and positive
  /// counts as zero. If all weights are zero, the draw is uniform. Requires a non-empty span.
  std::size_t weighted(std::span<const double> weights);

  /// Fisher-Yates. Unlike std::shuffle, it gives the same order with every standard library.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
  }

 private:
  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_;
  std::array<std::uint64_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace kernelsmith

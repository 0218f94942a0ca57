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

/// What a stream is drawn for. Numbers are part of the run's history: never reuse or reorder one.
enum class Purpose : std::uint32_t {
  sampling = 1,    ///< choosing parents and inspirations
  operators = 2,   ///< choosing the operator and the model
  proposal = 3,    ///< what a proposer draws
  migration = 4,   ///< which individuals move
  evaluation = 5,  ///< draws of a fake evaluator; the judge's inputs come from a secret seed
  retry = 6,       ///< jitter of a back-off
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

  /// Uniform in [0, n), without bias. Requires n > 0.
  std::uint64_t below(std::uint64_t n);

  /// Uniform in [0, 1), 53 bits.
  double uniform();

  /// True with probability p.
  bool chance(double p) { return uniform() < p; }

  /// Standard normal (Box and Muller).
  double normal();

  /// An index drawn with probability proportional to its weight; weights that are not finite and positive
  /// count as zero, and if all do, the draw is uniform. Requires a non-empty span.
  std::size_t weighted(std::span<const double> weights);

  /// Fisher-Yates. Unlike std::shuffle, the same on every standard library.
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

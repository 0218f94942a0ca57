// The Sampler policy makes a Selection, from which a proposer works, out of an island's state.
#pragma once

#include <cstddef>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/islands/island.hpp>

namespace kernelsmith {

/// Chooses parents and companions. Immutable. The result depends only on the arguments.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// The parent is null only if the island is empty.
  virtual Selection sample(const Island& island, Rng& rng) const = 0;

  /// The number of first programs that an island waits for before it develops the best ones further.
  virtual std::size_t opening() const { return 1; }

  /// Whether the island still waits. If most first programs fail, the opening ends after twice as many
  /// tickets as there are programs to wait for.
  bool opens(const Island& island) const {
    return island.joined() < opening() && island.visits() < 2 * opening();
  }
};

/// How MixtureSampler draws. The three shares are weights: only their ratio matters.
struct MixtureOptions {
  double explore = 0.2;         ///< weight of drawing the parent uniformly from the filled cells
  double exploit = 0.6;         ///< weight of drawing it uniformly from the best `elite_fraction` of the
                                ///< elites, at least one
  double weighted = 0.2;        ///< weight of drawing it with a probability proportional to its fitness
  double elite_fraction = 0.1;  ///< in (0, 1]
  std::size_t top = 3;          ///< at most this many individuals of each kind in a Selection
  std::size_t inspirations = 2;
  std::size_t failures = 2;

  friend bool operator==(const MixtureOptions&, const MixtureOptions&) = default;
};

/// A mixture of exploring, exploiting and fitness-weighted draws.
///
/// The fitness-weighted draw takes elites with a fitness of zero or less only if there are no others. While
/// the island has no elite, the parent comes from its rejections: the one at rank r (from 0) with a
/// probability proportional to 1 / (1 + r).
///
/// The Selection also has the best other elites; inspirations, which are elites from cells far from the
/// parent's and from one another (each is the farthest of a few random ones); and the latest failures, those
/// at the latest stage first. No individual appears twice.
class MixtureSampler final : public Sampler {
 public:
  /// Refuses (`invalid_argument`) shares that are negative, not finite or all zero, and an `elite_fraction`
  /// outside (0, 1].
  static Result<MixtureSampler> create(MixtureOptions options = {});

  Selection sample(const Island& island, Rng& rng) const override;

 private:
  explicit MixtureSampler(MixtureOptions options) : options_(options) {}
  MixtureOptions options_;
};

/// How TreeSampler draws. docs/search-quality.md has the measurements behind the defaults.
struct TreeOptions {
  double exploration = 1;   ///< weight of rarely visited programs
  double uniform = 0.8;     ///< largest share of parents that are drawn from several cells alike
  std::size_t cells = 8;    ///< those with the best elites
  double patience = 40;     ///< children without a new best program after which half of that share is drawn
  std::size_t opening = 5;  ///< Sampler::opening(); 0: no opening
  std::size_t top = 3;      ///< at most this many individuals of each kind in a Selection
  std::size_t inspirations = 2;
  std::size_t failures = 2;

  friend bool operator==(const TreeOptions&, const TreeOptions&) = default;
};

/// The default sampler. It first makes different programs, and then develops the best ones further. The
/// longer it finds nothing better, the more often it turns to the best programs of other cells. With
/// `uniform` 0 it never does.
///
/// It begins with the opening. If there are seeds, each seed in turn is the parent, and no other program is
/// shown. The opening ends after `opening` accepted programs besides the seeds, or after twice as many
/// tickets. Without a seed the engine asks for `opening` translations.
///
/// Then the parent is the leader with the highest bound. The bound is the leader's rank (1 for the first, 0
/// for the last) plus `exploration` times sqrt(1 + all visits) / ((1 + its place) (1 + its own visits)).
/// Places are counted 0, 1, 2, ... A visit is a child that was asked for. If s children were asked for since
/// the best program was found, a parent is drawn uniformly from the best `cells` elites instead, with a
/// probability of `uniform` s / (s + `patience`). The Selection also has the best other leaders, and
/// inspirations and failures as in MixtureSampler. Without an accepted program the parent comes from the
/// rejections, as in MixtureSampler.
class TreeSampler final : public Sampler {
 public:
  /// Refuses (`invalid_argument`) an exploration that is negative or not finite, a `uniform` outside [0, 1],
  /// no cells, and a patience that is not above 0.
  static Result<TreeSampler> create(TreeOptions options = {});

  Selection sample(const Island& island, Rng& rng) const override;
  std::size_t opening() const override { return options_.opening; }

 private:
  explicit TreeSampler(TreeOptions options) : options_(options) {}
  TreeOptions options_;
};

}  // namespace kernelsmith

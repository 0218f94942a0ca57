// The Migration policy chooses which individuals leave an island. The engine decides when they leave, and the
// topology where they go.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/islands/island.hpp>

namespace kernelsmith {

/// Chooses the migrants of one edge. Immutable. The result depends only on the arguments.
class Migration {
 public:
  virtual ~Migration() = default;

  /// Elites of `from` to offer to `to`; empty while `from` has no elite.
  virtual std::vector<IndividualPtr> migrants(const Island& from, const Island& to, Rng& rng) const = 0;
};

/// The `count` best elites.
class BestMigration final : public Migration {
 public:
  explicit BestMigration(std::size_t count) : count_(count) {}
  std::vector<IndividualPtr> migrants(const Island& from, const Island& to, Rng& rng) const override;

 private:
  std::size_t count_;
};

/// Draws `count` different elites, each from the remaining ones with a probability proportional to its
/// fitness (negative fitness counts as zero).
class WeightedMigration final : public Migration {
 public:
  explicit WeightedMigration(std::size_t count) : count_(count) {}
  std::vector<IndividualPtr> migrants(const Island& from, const Island& to, Rng& rng) const override;

 private:
  std::size_t count_;
};

}  // namespace kernelsmith

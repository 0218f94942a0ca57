// The Migration policy: who leaves an island. When it happens is the engine's business, where they go the
// topology's.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/islands/island.hpp>

namespace kernelsmith {

/// Chooses the migrants of one edge. Immutable; pure given the random stream.
class Migration {
 public:
  virtual ~Migration() = default;

  /// Elites of `from` that shall be offered to `to`; none while `from` has no elite.
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

/// `count` different elites, each drawn with a probability proportional to its fitness (negative ones count
/// as zero) among those that are left.
class WeightedMigration final : public Migration {
 public:
  explicit WeightedMigration(std::size_t count) : count_(count) {}
  std::vector<IndividualPtr> migrants(const Island& from, const Island& to, Rng& rng) const override;

 private:
  std::size_t count_;
};

}  // namespace kernelsmith

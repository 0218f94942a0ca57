// BanditOperators: learns in the run which operators and models gain the most for what they cost.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <kernelsmith/engine/operators.hpp>

namespace kernelsmith {

/// What a try costs, for a bandit.
enum class ArmCost {
  tries,   ///< each the same: a child is an iteration and an evaluation
  usd,     ///< what its calls cost
  tokens,  ///< those that its calls read and wrote
};

std::string_view name_of(ArmCost cost);

/// Thompson sampling. An arm's chance of a child that is better than its parent (for translations and
/// repairs: one that is accepted) is drawn from a beta distribution over its late tries, and the arm with the
/// largest chance for its cost is chosen. Before its own tries an arm is taken to be as good, and as dear, as
/// its operator and its model are; a new model as all of them together.
class BanditOperators final : public Operators {
 public:
  /// Refuses (`invalid_argument`) what WeightedOperators refuses of a list, and an arm that is listed twice.
  /// Without `cost` it is money if the run has a budget of it, else tries.
  static Result<BanditOperators> create(std::vector<OperatorChoice> arms, std::optional<ArmCost> cost = {});

  OperatorChoice choose(const Situation& situation, Rng& rng) const override;

 private:
  BanditOperators(std::vector<OperatorChoice> arms, std::optional<ArmCost> cost)
      : arms_(std::move(arms)), cost_(cost) {}

  std::vector<OperatorChoice> possible(const Situation& situation) const;

  std::vector<OperatorChoice> arms_;
  std::optional<ArmCost> cost_;
};

}  // namespace kernelsmith

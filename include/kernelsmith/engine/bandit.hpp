// BanditOperators: learns during the run which operators and models gain the most for their cost.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <kernelsmith/engine/operators.hpp>

namespace kernelsmith {

/// How a bandit counts the cost of a try.
enum class ArmCost {
  tries,   ///< all tries cost the same: an iteration and an evaluation
  usd,     ///< the price of the try's calls
  tokens,  ///< the tokens of the try's calls, input and output
};

std::string_view name_of(ArmCost cost);

/// Thompson sampling. For each arm it draws a chance from a beta distribution over the arm's recent tries:
/// the chance of a child that is better than its parent (for translations and repairs: of a child that is
/// accepted). It chooses the arm with the largest chance per cost. An arm without tries is assumed to be as
/// good and as expensive as its operator and its model; a new model as the average of all.
class BanditOperators final : public Operators {
 public:
  /// Refuses (`invalid_argument`) lists that WeightedOperators refuses, and an arm that is listed twice. If
  /// `cost` is empty, the cost is counted in money if the run has a budget of money, else in tries.
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

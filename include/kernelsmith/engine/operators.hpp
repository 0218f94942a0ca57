// The Operators policy: what makes the next child, and with which model.
#pragma once

#include <optional>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/engine/arms.hpp>

namespace kernelsmith {

/// What a choice is made from.
struct Situation {
  const Selection& selection;
  const ArmRecord& arms;  ///< what the run's earlier choices brought
  /// Operator::repair if the engine has chosen it, so that only the model is open.
  std::optional<Operator> op = std::nullopt;
  bool pays = false;  ///< the run has a budget of money
};

/// Chooses the operator of a ticket. Immutable; pure given the random stream.
class Operators {
 public:
  virtual ~Operators() = default;

  /// For a selection without an accepted parent the answer is Operator::translate, unless the situation names
  /// the operator.
  virtual OperatorChoice choose(const Situation& situation, Rng& rng) const = 0;
};

/// If not, a child is a translation.
bool has_accepted_parent(const Selection& selection);

/// Whether a crossover is possible: the selection holds a second accepted program.
bool has_second_parent(const Selection& selection);

/// Draws from a fixed list by weight. Crossover takes part only if the selection holds a second accepted
/// program.
class WeightedOperators final : public Operators {
 public:
  /// A choice, and how often it is made beside the others.
  struct Entry {
    OperatorChoice choice;
    double weight = 1;
  };

  /// Refuses (`invalid_argument`) an empty list, a weight that is negative or not finite, a list without a
  /// positive weight for anything but crossover, and the operators that the engine chooses by itself:
  /// translate and repair. Those use the first entry's model.
  static Result<WeightedOperators> create(std::vector<Entry> entries);

  OperatorChoice choose(const Situation& situation, Rng& rng) const override;

 private:
  explicit WeightedOperators(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  std::vector<Entry> entries_;
};

}  // namespace kernelsmith

// The Operators policy: chooses the operator and the model of the next child.
#pragma once

#include <optional>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/engine/arms.hpp>

namespace kernelsmith {

/// The input of a choice.
struct Situation {
  const Selection& selection;
  const ArmRecord& arms;  ///< results of the run's earlier choices
  /// Operator::repair if the engine has chosen it and only the model is still to be chosen.
  std::optional<Operator> op = std::nullopt;
  bool pays = false;  ///< the run has a budget of money
};

/// Chooses the operator of a ticket. Immutable. The result depends only on the arguments.
class Operators {
 public:
  virtual ~Operators() = default;

  /// Returns the situation's operator if it has one, else Operator::translate for a selection without an
  /// accepted parent.
  virtual OperatorChoice choose(const Situation& situation, Rng& rng) const = 0;
};

/// Whether the selection has an accepted parent. If it has no parent, the child is a translation.
bool has_accepted_parent(const Selection& selection);

/// Whether a crossover is possible: the selection has a second accepted program.
bool has_second_parent(const Selection& selection);

/// Draws from a fixed list by weight. Crossover is drawn only if the selection has a second accepted program.
class WeightedOperators final : public Operators {
 public:
  /// A choice and its relative frequency.
  struct Entry {
    OperatorChoice choice;
    double weight = 1;
  };

  /// Refuses (`invalid_argument`) an empty list, a weight that is negative or not finite, a list in which
  /// only crossover has a positive weight, and the operators translate and repair, which the engine chooses
  /// itself. Translations and repairs use the first entry's model.
  static Result<WeightedOperators> create(std::vector<Entry> entries);

  OperatorChoice choose(const Situation& situation, Rng& rng) const override;

 private:
  explicit WeightedOperators(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  std::vector<Entry> entries_;
};

}  // namespace kernelsmith

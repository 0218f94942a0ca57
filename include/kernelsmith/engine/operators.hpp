// The Operators policy: what makes the next child, and with which model.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>

namespace kernelsmith {

/// An operator and, if several models are configured, the model that serves it.
struct OperatorChoice {
  Operator op = Operator::rewrite;
  std::string model;

  friend bool operator==(const OperatorChoice&, const OperatorChoice&) = default;
};

/// Chooses the operator of a ticket. Immutable; pure given the random stream.
class Operators {
 public:
  virtual ~Operators() = default;

  /// For a selection without an accepted parent the answer is Operator::translate.
  virtual OperatorChoice choose(const Selection& selection, Rng& rng) const = 0;
};

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
  /// translate and repair. Translations use the first entry's model.
  static Result<WeightedOperators> create(std::vector<Entry> entries);

  OperatorChoice choose(const Selection& selection, Rng& rng) const override;

 private:
  explicit WeightedOperators(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  std::vector<Entry> entries_;
};

}  // namespace kernelsmith

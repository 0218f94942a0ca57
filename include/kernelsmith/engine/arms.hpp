// ArmRecord: what each arm of the search (an operator with a model) has gained so far.
#pragma once

#include <compare>
#include <map>
#include <string>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// An operator and, if several models are configured, the model that serves it. The operator sets the size of
/// a step: tuning changes numbers, an edit lines, a rewrite or a crossover the whole program.
struct OperatorChoice {
  Operator op = Operator::rewrite;
  std::string model;

  friend auto operator<=>(const OperatorChoice&, const OperatorChoice&) = default;
};

/// Sums over the tries of an arm. A try is a requested child, whatever its result; a ticket that was given
/// back does not count.
struct ArmSums {
  double tries = 0;
  double accepted = 0;  ///< evaluated and accepted, without repeats of earlier programs
  double better = 0;    ///< those better than the parent beyond the noise; all if the parent was rejected
  double gain = 0;      ///< their sum of log(fitness / parent's fitness); 0 if one is not positive
  double usd = 0;       ///< reported and guessed
  double tokens = 0;    ///< read and written

  ArmSums& operator+=(const ArmSums& other);
  ArmSums& operator*=(double factor);
  friend bool operator==(const ArmSums&, const ArmSums&) = default;
};

struct Arm {
  ArmSums all;
  ArmSums lately;  ///< the same with decay: the weight of a try halves every ArmRecord::kHalfLife tries

  friend bool operator==(const Arm&, const Arm&) = default;
};

/// A fold over the tickets in the order in which they took effect: equal journals give equal records. A
/// value.
class ArmRecord {
 public:
  /// In tries of all arms together. Measured in docs/search-quality.md.
  static const double kHalfLife;

  void add(const OperatorChoice& arm, const ArmSums& one_try);

  /// The arms that were tried, even if they are no longer configured.
  const std::map<OperatorChoice, Arm>& arms() const { return arms_; }

  /// The sums over all arms.
  Arm total() const;

  /// Equal records have equal texts, byte for byte.
  std::string to_text() const;

 private:
  std::map<OperatorChoice, Arm> arms_;
};

}  // namespace kernelsmith

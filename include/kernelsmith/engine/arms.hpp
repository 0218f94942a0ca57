// ArmRecord: what each arm of the search, an operator with a model, has brought so far.
#pragma once

#include <compare>
#include <map>
#include <string>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// An operator and, if several models are configured, the model that serves it. The operator is the size of
/// the step: a tuned child changes numbers, an edit lines, a rewrite or a crossover the whole program.
struct OperatorChoice {
  Operator op = Operator::rewrite;
  std::string model;

  friend auto operator<=>(const OperatorChoice&, const OperatorChoice&) = default;
};

/// Sums over the tries of an arm. A try is a child that was asked for, whatever became of it; a ticket that
/// was given back does not count.
struct ArmSums {
  double tries = 0;
  double accepted = 0;  ///< evaluated and accepted; repeats of earlier programs are not
  double better = 0;    ///< of those, better than the parent beyond the noise; if that was rejected, all
  double gain = 0;    ///< of those, the logarithm of the fitness over the parent's; 0 if one is not positive
  double usd = 0;     ///< reported and guessed
  double tokens = 0;  ///< read and written

  ArmSums& operator+=(const ArmSums& other);
  ArmSums& operator*=(double factor);
  friend bool operator==(const ArmSums&, const ArmSums&) = default;
};

struct Arm {
  ArmSums all;
  ArmSums lately;  ///< the same, where older tries count less: half as much every ArmRecord::kHalfLife tries

  friend bool operator==(const Arm&, const Arm&) = default;
};

/// A fold over the tickets that took effect, in that order: equal journals give equal records. A value.
class ArmRecord {
 public:
  /// In tries of all arms. docs/search-quality.md measures it.
  static const double kHalfLife;

  void add(const OperatorChoice& arm, const ArmSums& one_try);

  /// Those that were tried, whether or not they are configured any more.
  const std::map<OperatorChoice, Arm>& arms() const { return arms_; }

  /// The sums over all arms.
  Arm total() const;

  /// Equal records have equal texts, byte for byte.
  std::string to_text() const;

 private:
  std::map<OperatorChoice, Arm> arms_;
};

}  // namespace kernelsmith

// ArmRecord: what each arm of the search (an operator with a model) has gained so far.
#pragma once

#include <compare>
#include <map>
#include <string>

#include <kernelsmith/core/individual.hpp>

namespace kernelsmith {

/// An operator and, if several models are configured, the model that serves it. The operator sets the size of
/// a step: tuning changes numbers, an edit changes lines, a rewrite or a crossover changes the whole program.
struct OperatorChoice {
  Operator op = Operator::rewrite;
  std::string model;

  friend auto operator<=>(const OperatorChoice&, const OperatorChoice&) = default;
};

/// Sums over the tries of an arm. A try is a requested child, whatever its result; a ticket that was given
/// back does not count.
struct ArmSums {
  double tries = 0;
  double accepted = 0;  ///< children that were evaluated and accepted, without repeats of earlier programs
  double better = 0;    ///< accepted children better than the parent beyond the noise; if the parent was
                        ///< rejected, all accepted ones
  double gain = 0;      ///< sum of log(fitness / parent's fitness) over the better ones; a child adds 0 if
                        ///< one of the two is not positive
  double usd = 0;       ///< reported and guessed
  double tokens = 0;    ///< read and written

  ArmSums& operator+=(const ArmSums& other);
  ArmSums& operator*=(double factor);
  friend bool operator==(const ArmSums&, const ArmSums&) = default;
};

struct Arm {
  ArmSums all;
  ArmSums lately;  ///< the same sums with decay: the weight of a try halves every ArmRecord::kHalfLife tries

  friend bool operator==(const Arm&, const Arm&) = default;
};

/// What the tickets so far add up to, in the order in which they took effect: equal journals give equal
/// records. A value.
class ArmRecord {
 public:
  /// A number of tries, of all arms together. docs/search-quality.md has the measurement behind it.
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

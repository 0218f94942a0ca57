// Objectives: what a search optimises. It is fitness alone unless a run names several objectives.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/metrics.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// One quantity that a search optimises.
struct Objective {
  std::string feature;    ///< a name in Metrics::features(), or "fitness" for the fitness itself
  bool minimise = false;  ///< less is better

  friend bool operator==(const Objective&, const Objective&) = default;
};

/// How several objectives are combined.
enum class ObjectiveRule {
  pareto,         ///< a cell keeps the programs that none of its other programs dominates
  lexicographic,  ///< a cell keeps one program; the next objective decides a tie
};
std::string_view name_of(ObjectiveRule rule);

/// Objectives, the most important first. Fitness values within the noise are ties; features are exact. A
/// missing feature is the worst value. Immutable; safe to share between threads.
class Objectives {
 public:
  static constexpr std::size_t kMost = 4;

  /// The fitness alone.
  Objectives() = default;

  /// Refuses (`invalid_argument`) an empty list, more than kMost objectives, a feature that is listed twice,
  /// a list without the fitness, and a fitness to be minimised. A list of the fitness alone gives the
  /// default.
  static Result<Objectives> create(std::vector<Objective> objectives, ObjectiveRule rule);

  /// Reads the text of to_text(). Errors: `invalid_argument`.
  static Result<Objectives> from_text(const std::string& text);

  /// Returns false if fitness is the only objective.
  bool several() const { return list_.size() > 1; }
  bool pareto() const { return several() && rule_ == ObjectiveRule::pareto; }
  bool lexicographic() const { return several() && rule_ == ObjectiveRule::lexicographic; }

  ObjectiveRule rule() const { return rule_; }
  const std::vector<Objective>& list() const { return list_; }
  std::size_t place_of_fitness() const { return fitness_; }

  /// An objective's number as the program reports it; empty if the program does not report it.
  std::optional<double> reported(std::size_t objective, const Metrics& metrics) const;

  /// The value of an objective, where higher is better: a feature to be minimised is negated. Minus infinity
  /// if the feature is absent.
  double value(std::size_t objective, const Metrics& metrics) const;

  /// Whether `a` is at least as good as `b` in every objective except fitness.
  bool covers_features(const Metrics& a, const Metrics& b) const;

  /// Whether `a` is at least as good in everything and better in something. Compares medians, so it is a
  /// partial order.
  bool dominates(const Metrics& a, const Metrics& b) const;

  /// Under the lexicographic rule: the first objective in which the two differ beyond the noise, and which of
  /// the two is better. Empty for a tie.
  struct Decision {
    std::size_t objective = 0;
    Comparison verdict = Comparison::ambiguous;  ///< better or worse
  };
  std::optional<Decision> decide(const Metrics& challenger, const Metrics& incumbent) const;

  /// The individual to report as the best of these accepted ones; null if the list is empty. The
  /// lexicographic rule takes the objectives in turn and keeps the individuals that tie with the best in it.
  /// Among the individuals that remain (under the Pareto rule: among all) the one with the highest fitness
  /// wins; of equals, the older program.
  IndividualPtr best_of(std::vector<IndividualPtr> individuals) const;

  /// The objectives as one line, such as `pareto max "fitness" min "peak_memory"`. Different objectives have
  /// different texts.
  std::string to_text() const;

  friend bool operator==(const Objectives&, const Objectives&) = default;

 private:
  std::vector<Objective> list_ = {{"fitness"}};
  ObjectiveRule rule_ = ObjectiveRule::pareto;
  std::size_t fitness_ = 0;  ///< the objective's index in the list
};

/// The individuals that no other one dominates, in their order.
std::vector<IndividualPtr> pareto_front(const Objectives& objectives, std::span<const IndividualPtr> all);

}  // namespace kernelsmith

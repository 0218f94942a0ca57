// Objectives: what a search is after. The fitness alone, unless a run names several.
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

/// One of the things that a search is after.
struct Objective {
  std::string feature;    ///< a name in Metrics::features(), or "fitness" for the fitness itself
  bool minimise = false;  ///< less is better

  friend bool operator==(const Objective&, const Objective&) = default;
};

/// What is done with several objectives.
enum class ObjectiveRule {
  pareto,         ///< a cell keeps the programs that no other of its programs beats in everything
  lexicographic,  ///< a cell keeps one program; where the first objective sees a tie, the next one decides
};
std::string_view name_of(ObjectiveRule rule);

/// Objectives in the order of their weight. The fitness has noise, and ties within it; features are exact. A
/// feature that a program lacks is the worst value. Immutable; safe to share between threads.
class Objectives {
 public:
  static constexpr std::size_t kMost = 4;

  /// The fitness alone.
  Objectives() = default;

  /// Refuses (`invalid_argument`) an empty list, more than kMost, one feature twice, a list without the
  /// fitness, and fitness as something to minimise. A list of the fitness alone is the default.
  static Result<Objectives> create(std::vector<Objective> objectives, ObjectiveRule rule);

  /// What to_text() gave. Errors: `invalid_argument`.
  static Result<Objectives> from_text(const std::string& text);

  /// False for the fitness alone.
  bool several() const { return list_.size() > 1; }
  bool pareto() const { return several() && rule_ == ObjectiveRule::pareto; }
  bool lexicographic() const { return several() && rule_ == ObjectiveRule::lexicographic; }

  ObjectiveRule rule() const { return rule_; }
  const std::vector<Objective>& list() const { return list_; }
  std::size_t place_of_fitness() const { return fitness_; }

  /// The number of an objective, as the program reports it; empty if it does not.
  std::optional<double> reported(std::size_t objective, const Metrics& metrics) const;

  /// The value of an objective, higher is better: a feature to minimise is negated. Minus infinity if it is
  /// absent.
  double value(std::size_t objective, const Metrics& metrics) const;

  /// Whether `a` is at least as good as `b` in each objective but the fitness.
  bool covers_features(const Metrics& a, const Metrics& b) const;

  /// Whether `a` is at least as good in everything and better in something. Medians count: a partial order.
  bool dominates(const Metrics& a, const Metrics& b) const;

  /// Under the lexicographic rule: the objective that tells the two apart, beyond the noise of the fitness,
  /// and how. Empty if none does.
  struct Decision {
    std::size_t objective = 0;
    Comparison verdict = Comparison::ambiguous;  ///< better or worse
  };
  std::optional<Decision> decide(const Metrics& challenger, const Metrics& incumbent) const;

  /// The one of these accepted individuals to hand over; null for none. Under the lexicographic rule each
  /// objective in turn leaves those that tie with its best; in the end, and under the other rule at once, the
  /// highest fitness counts, and of equals the older program.
  IndividualPtr best_of(std::vector<IndividualPtr> individuals) const;

  /// One line, equal for equal objectives only: `pareto max "fitness" min "peak_memory"`.
  std::string to_text() const;

  friend bool operator==(const Objectives&, const Objectives&) = default;

 private:
  std::vector<Objective> list_ = {{"fitness"}};
  ObjectiveRule rule_ = ObjectiveRule::pareto;
  std::size_t fitness_ = 0;  ///< its place in the list
};

/// The individuals that no other one dominates, in their order.
std::vector<IndividualPtr> pareto_front(const Objectives& objectives, std::span<const IndividualPtr> all);

}  // namespace kernelsmith

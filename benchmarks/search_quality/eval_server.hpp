// EvalServer: the one place where every arm's budget is counted and its best is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <kernelsmith/core/rng.hpp>

#include "problem.hpp"

namespace kernelsmith::bench {

/// What an arm sees of a program.
struct Trial {
  bool accepted = false;
  double speedup = 0;  ///< as measured; the mean if it was measured again
  double size = 1;
  std::size_t measurements = 1;
  std::vector<std::size_t> structure = {};  ///< Made::structure
};

class EvalServer {
 public:
  /// `budget` is how many evaluations a search may make, the seed's included.
  EvalServer(Problem& problem, std::size_t budget, std::uint64_t seed, std::size_t in_flight = 1);

  /// The program that a search begins with: the seed, or the first translation that is accepted. Empty if the
  /// budget ends before.
  std::optional<std::size_t> begin();

  /// Whether the budget covers another evaluation.
  bool open() const { return curve_.size() < budget_; }

  /// The child's number; empty if the budget does not cover it.
  std::optional<std::size_t> make(const Asked& asked, std::size_t parent,
                                  std::span<const std::size_t> shown = {});

  /// As make(), but a repeat of an earlier program is that program and costs nothing, as in the engine.
  std::optional<std::size_t> make_new(const Asked& asked, std::size_t parent,
                                      std::span<const std::size_t> shown);

  /// What an arm does with a child once it learns what became of it.
  using Learn = std::function<void(std::size_t child)>;

  /// As make(), but the arm learns of the child only when in_flight() - 1 further children were begun.
  /// Returns false if the budget does not cover it.
  bool launch(const Asked& asked, std::size_t parent, std::span<const std::size_t> shown, Learn learn);

  /// The accepted programs that the arm knows of, the best first.
  std::vector<std::size_t> known() const;

  std::size_t in_flight() const { return in_flight_; }

  /// A further measurement of an accepted program: its speedup in this one. It uses up an evaluation.
  double remeasure(std::size_t program);

  /// Its speedup in an evaluation of another program that it is timed beside; free.
  double measured_beside(std::size_t program);

  const std::vector<Trial>& trials() const { return trials_; }
  const Trial& operator[](std::size_t program) const { return trials_[program]; }
  std::size_t budget() const { return budget_; }
  const Problem& problem() const { return problem_; }

  /// The true score of the program that was measured to be the best; minus infinity if none was accepted.
  double score() const;
  /// The sum over the structures of the share of Problem::highest()'s speedup that their best program has.
  double qd_score() const;
  /// How many structures have an accepted program, and how many have any.
  std::size_t filled() const;
  std::size_t seen() const;
  /// After each evaluation: Made::progress of the best.
  const std::vector<double>& curve() const { return curve_; }

 private:
  double measured(std::size_t program) const;
  double measure_again(std::size_t program);
  void add(const Made& made);
  void count();
  std::map<std::vector<std::size_t>, double> best_of_structures() const;

  Problem& problem_;
  std::size_t budget_;
  std::uint64_t seed_;
  std::size_t in_flight_;
  std::optional<std::size_t> best_;
  std::deque<std::pair<std::size_t, Learn>> under_way_;
  std::vector<Trial> trials_;
  std::vector<Made> made_;
  std::vector<double> curve_;
};

}  // namespace kernelsmith::bench

// Individual: a program with its evaluation, shared and immutable. Migration shares it with another island
// without a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/knob_history.hpp>
#include <kernelsmith/core/program.hpp>

namespace kernelsmith {

/// A program and its evaluation: what islands and archives hold. Immutable where it is shared.
struct Individual {
  ProgramPtr program;
  Evaluation evaluation;
};

using IndividualPtr = std::shared_ptr<const Individual>;

/// How the child is made.
enum class Operator { translate, edit, rewrite, crossover, repair, tune };

std::string_view name_of(Operator op);
std::optional<Operator> operator_from(std::string_view name);

/// The run's programs when a request was opened. A program may be in both lists.
struct PastPrograms {
  std::uint64_t evaluated = 0;        ///< number of all programs of the run
  std::vector<IndividualPtr> best;    ///< the best accepted programs of all islands, the highest fitness
                                      ///< first
  std::vector<IndividualPtr> latest;  ///< the latest programs, accepted or not, the newest first
};

/// The programs that a proposer works from. `parent` is null only for Operator::translate.
struct Selection {
  IndividualPtr parent;
  std::vector<IndividualPtr> top;           ///< the island's best, best first
  std::vector<IndividualPtr> inspirations;  ///< elites of other cells, for diversity
  std::vector<IndividualPtr> failures;      ///< recent rejections, those at the latest stage first
  /// The parent's ancestors, the nearest first, then its latest accepted children; often empty.
  std::vector<IndividualPtr> kin = {};
  /// For proposers that look at the whole run; empty unless the engine was asked to fill it.
  PastPrograms past = {};
  /// What is known about the parent's knobs, for Operator::tune; null if it is not recorded.
  std::shared_ptr<const KnobHistory> knobs = {};
};

}  // namespace kernelsmith

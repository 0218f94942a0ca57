// Individual: a program with its evaluation, shared and immutable. Migration puts the same individual on
// another island; nothing is copied.
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

/// What makes the child.
enum class Operator { translate, edit, rewrite, crossover, repair, tune };

std::string_view name_of(Operator op);
std::optional<Operator> operator_from(std::string_view name);

/// What a run had tried when a request was opened. A program may be in both lists.
struct PastPrograms {
  std::uint64_t evaluated = 0;        ///< programs of the run, those that are not listed among them
  std::vector<IndividualPtr> best;    ///< accepted, of all islands, the highest fitness first
  std::vector<IndividualPtr> latest;  ///< accepted or not, the newest first
};

/// What a proposer is given to work from. `parent` is null only for Operator::translate.
struct Selection {
  IndividualPtr parent;
  std::vector<IndividualPtr> top;           ///< the island's best, best first
  std::vector<IndividualPtr> inspirations;  ///< elites of other cells, for diversity
  std::vector<IndividualPtr> failures;      ///< recent rejections, furthest stage first
  /// What the parent descends from, the nearest first, then its latest accepted children; often empty.
  std::vector<IndividualPtr> kin = {};
  /// For proposers that may look around in the whole run; empty unless the engine is asked for it.
  PastPrograms past = {};
  /// What is known of the parent's knobs, for Operator::tune; null if nobody keeps it.
  std::shared_ptr<const KnobHistory> knobs = {};
};

}  // namespace kernelsmith

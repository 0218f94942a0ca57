// Ticket: one unit of search work. The engine hands out each ticket once and gets one answer to it; answers
// come in any order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith {

/// Make a child and have it evaluated.
struct Propose {
  Operator op = Operator::rewrite;
  std::string model;  ///< the chosen model; empty if only one is configured
  Selection selection;
  std::vector<IndividualPtr> tried = {};  ///< ProposalRequest::tried
  std::uint64_t trials = 0;               ///< ProposalRequest::trials
};

/// Evaluate a child that exists: a seed, or one whose proposal arrived before the run was interrupted.
struct Evaluate {
  Child child;
};

/// Why a program is measured again.
enum class Remeasurement {
  duel,     ///< a cell's challenger and incumbent are too close to call
  confirm,  ///< the final best, with fresh seeds
};

std::string_view name_of(Remeasurement why);
std::optional<Remeasurement> remeasurement_from(std::string_view name);

/// Measure a challenger again, against the incumbent if there is one.
struct Remeasure {
  Remeasurement why = Remeasurement::duel;
  IndividualPtr challenger;
  IndividualPtr incumbent;  ///< null for `confirm`
};

/// A task that the engine hands out. It is answered once, with tell(), or given back.
struct Ticket {
  TicketId id;
  IslandId island;
  std::variant<Propose, Evaluate, Remeasure> work;
};

}  // namespace kernelsmith

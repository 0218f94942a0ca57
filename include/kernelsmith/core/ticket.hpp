// Ticket: one unit of search work. Asked once, told once, in any order.
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
  std::string model;  ///< which of the configured models; empty if there is no choice
  Selection selection;
  std::vector<IndividualPtr> tried = {};  ///< ProposalRequest::tried
  std::uint64_t trials = 0;               ///< ProposalRequest::trials
};

/// Have a child evaluated that is there already: a seed, or one whose proposal arrived before the run was
/// interrupted.
struct Evaluate {
  Child child;
};

/// Why a known program is measured again.
enum class Remeasurement {
  duel,     ///< challenger and incumbent of a cell are too close to call
  confirm,  ///< the final best, on fresh seeds
};

std::string_view name_of(Remeasurement why);
std::optional<Remeasurement> remeasurement_from(std::string_view name);

/// Measure a challenger again, against the incumbent if there is one.
struct Remeasure {
  Remeasurement why = Remeasurement::duel;
  IndividualPtr challenger;
  IndividualPtr incumbent;  ///< null for `confirm`
};

/// A question of the engine, which is answered once by tell() or given back.
struct Ticket {
  TicketId id;
  IslandId island;
  std::variant<Propose, Evaluate, Remeasure> work;
};

}  // namespace kernelsmith

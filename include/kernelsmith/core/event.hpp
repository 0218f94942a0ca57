// The run's history as data. An event is appended before it takes effect. The archive, the lineage and the
// state of every policy are computed from the events alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/ticket.hpp>

namespace kernelsmith {

/// A ticket was opened. It names individuals by their programs' ids. Tickets of seeds and trials have neither
/// an operator nor a remeasurement; their proposals follow at once.
struct TicketOpened {
  TicketId ticket;
  IslandId island;
  std::optional<Operator> op;                  ///< set for Propose
  std::optional<Remeasurement> remeasurement;  ///< set for Remeasure
  std::string model;
  std::optional<ProgramId> parent;     ///< the challenger, for Remeasure
  std::optional<ProgramId> incumbent;  ///< for a duel
  std::vector<ProgramId> top, inspirations, failures;
  std::optional<TicketId> within;  ///< set for a trial: the open ticket that it serves

  friend bool operator==(const TicketOpened&, const TicketOpened&) = default;
};

/// A proposer answered. The event is journalled on arrival, so that no answer is paid for twice.
struct ProposalArrived {
  TicketId ticket;
  Proposal proposal;

  friend bool operator==(const ProposalArrived&, const ProposalArrived&) = default;
};

/// An attempt to call a model failed and cost something, or may have cost something; or the session ended
/// during the attempt. The ticket stays open.
struct CallFailed {
  TicketId ticket;
  Cost cost;
  bool goes_on = false;  ///< another attempt may follow
  double elapsed_s = 0;  ///< 0 in older journals

  friend bool operator==(const CallFailed&, const CallFailed&) = default;
};

/// How an evaluation came about.
enum class EvaluationSource {
  evaluated,  ///< by the evaluator
  cached,     ///< a repeat of an earlier program: costs an iteration but no evaluation, and makes no program
  same_binary,  ///< the same as `cached`, found after compiling: the binary has the same bytes
};

std::string_view name_of(EvaluationSource source);
std::optional<EvaluationSource> evaluation_source_from(std::string_view name);

/// A ticket got its evaluation.
struct EvaluationArrived {
  TicketId ticket;
  ProgramId program;  ///< the evaluated program; for `cached` the earlier one
  std::uint32_t attempt = 0;
  EvaluationSource source = EvaluationSource::evaluated;
  Evaluation evaluation;
  double elapsed_s = 0;  ///< wall time of all sessions of the run so far

  friend bool operator==(const EvaluationArrived&, const EvaluationArrived&) = default;
};

/// A ticket was closed without a score: it was given back, or the proposer refused.
struct TicketClosed {
  TicketId ticket;
  std::optional<Error> error;  ///< empty if the proposal was a Refusal
  double elapsed_s = 0;

  friend bool operator==(const TicketClosed&, const TicketClosed&) = default;
};

/// Progress crossed a period of a policy (migration, stagnation, ...), or the spent money passed a mark of
/// its budget. A replay follows this event, never the clock.
struct PeriodCrossed {
  std::string policy;       ///< "migration", "money", ...
  std::uint64_t epoch = 0;  ///< 1 for the first crossing
  TicketId after;           ///< the commit after which it took effect

  friend bool operator==(const PeriodCrossed&, const PeriodCrossed&) = default;
};

/// A session of the run began: at creation and at every resume.
struct SessionStarted {
  std::string version;                    ///< the version of kernelsmith
  std::map<std::string, double> budgets;  ///< the limits from here on, by name; a budget that is absent is
                                          ///< unlimited
  std::map<std::string, std::string>
      settings;  ///< settings that must not change during a run, such as the seed
  double elapsed_s = 0;

  friend bool operator==(const SessionStarted&, const SessionStarted&) = default;
};

/// An error ended the session. Only readers of the run use this event.
struct SessionFailed {
  Error error;
  double elapsed_s = 0;  ///< 0 in older journals

  friend bool operator==(const SessionFailed&, const SessionFailed&) = default;
};

using Event = std::variant<SessionStarted, TicketOpened, ProposalArrived, CallFailed, EvaluationArrived,
                           TicketClosed, PeriodCrossed, SessionFailed>;

}  // namespace kernelsmith

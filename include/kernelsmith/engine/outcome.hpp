// The engine's reports: a Commit for each ticket, an Outcome for the run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <kernelsmith/archive/archive.hpp>
#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/ticket.hpp>
#include <kernelsmith/engine/expected_gain.hpp>
#include <kernelsmith/engine/spending.hpp>

namespace kernelsmith {

/// How a ticket ended.
enum class CommitKind {
  evaluated,   ///< a new program was evaluated
  repeated,    ///< the child was a repeat of an earlier program
  remeasured,  ///< a duel or a confirmation
  refused,     ///< the proposer gave no child
  given_back,  ///< an Error closed it; it used up no budget
};

std::string_view name_of(CommitKind kind);

/// A ticket took effect.
struct Commit {
  TicketId ticket;
  IslandId island;
  CommitKind kind = CommitKind::evaluated;
  IndividualPtr individual;          ///< the current state; null for `refused` and `given_back`
  std::optional<ProgramId> repeats;  ///< for `repeated`: the earlier program
  double fitness = 0;                ///< the individual's median if it was accepted
  bool new_best = false;             ///< it has become the best of all islands
  bool demoted = false;              ///< it was the best, and was rejected when it was confirmed
  std::optional<AddStatus> added;    ///< what its island did with it; empty for a rejection and if nothing
                                     ///< was added
  std::optional<Refusal> refusal;    ///< for `refused`
  std::optional<Error> error;        ///< for `given_back`
};

/// What a run has used and found, in all its sessions.
struct Counts {
  std::uint64_t iterations = 0;   ///< requested children that were evaluated, repeated or refused
  std::uint64_t evaluations = 0;  ///< evaluations spent on new programs and re-measurements
  std::uint64_t accepted = 0;     ///< new programs
  std::uint64_t rejected = 0;     ///< new programs
  std::uint64_t repeated = 0;
  std::uint64_t same_binary = 0;  ///< part of `repeated`: programs with different tokens that compiled to the
                                  ///< same bytes
  std::uint64_t refused = 0;
  std::uint64_t repairs = 0;
  std::uint64_t tunings = 0;  ///< children made by tuning a new structure at once; not counted as iterations
  std::uint64_t remeasured = 0;
  std::uint64_t given_back = 0;
  std::uint64_t demoted = 0;  ///< programs rejected when they were confirmed; also counted in `rejected`

  friend bool operator==(const Counts&, const Counts&) = default;
};

/// Why a run, or this session of it, ended.
enum class EndReason {
  unfinished,  ///< it has not ended: there is more to ask or to tell
  budget,      ///< a budget is used up
  flat,        ///< the rest of the run is expected to gain less than Budgets::until_flat
  exhausted,   ///< the proposer has nothing new
  finished,    ///< the proposer said that it is done; another session continues
  refused,     ///< every seed was rejected
  stopped,     ///< stopped on request; the run can be resumed
  errors,      ///< too many Errors in a row; the run can be resumed
  replayed,    ///< the followed recording ends here, before the run's own end
};

std::string_view name_of(EndReason reason);

enum class BudgetName { iterations, evaluations, calls, wall_time, money };

std::string_view name_of(BudgetName budget);

/// The state of a run at the end of a session.
struct Outcome {
  EndReason reason = EndReason::unfinished;
  std::optional<BudgetName> budget;        ///< for `budget`: the budget that is used up
  std::optional<Error> error;              ///< for `refused` and `errors`
  IndividualPtr best;                      ///< null while nothing was accepted
  std::optional<Evaluation> confirmation;  ///< the best's, if it was confirmed; always an accepted one
  Counts counts;
  std::map<RefusalCode, std::uint64_t> refusals;  ///< number of refused proposals by reason
  Spending spending;
  std::optional<double> next_usd;  ///< if the budget of money ended the run: the assumed cost of the next
                                   ///< call
  /// The expected gain from the rest of the budget, if the history allows an estimate.
  std::optional<ExpectedGain> expected_gain;
  double elapsed_s = 0;
  double confirming_s = 0;  ///< the part of elapsed_s for measuring the best again; no budget counts it
  double session_s = 0;     ///< the part of elapsed_s in this session
  double engine_s = 0;      ///< the part of session_s that the engine itself used, for journal, archive and
                            ///< policies
};

}  // namespace kernelsmith

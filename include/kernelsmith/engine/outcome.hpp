// What an engine reports: one Commit for each ticket, one Outcome for the run.
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
  IndividualPtr individual;          ///< as it stands now; null for `refused` and `given_back`
  std::optional<ProgramId> repeats;  ///< for `repeated`: the earlier program
  double fitness = 0;                ///< the individual's median if it was accepted
  bool new_best = false;             ///< it is the best of all islands now, and was not before
  bool demoted = false;              ///< it was the best, and was rejected when it was confirmed
  std::optional<AddStatus> added;    ///< on its island; empty for a rejection and if nothing was added
  std::optional<Refusal> refusal;    ///< for `refused`
  std::optional<Error> error;        ///< for `given_back`
};

/// What a run has used and found. All its sessions together.
struct Counts {
  std::uint64_t iterations = 0;   ///< children asked for and told: evaluated, repeated or refused
  std::uint64_t evaluations = 0;  ///< spent: new programs and re-measurements
  std::uint64_t accepted = 0;     ///< new programs
  std::uint64_t rejected = 0;     ///< new programs
  std::uint64_t repeated = 0;
  std::uint64_t same_binary = 0;  ///< of `repeated`: other tokens, which were compiled to the same bytes
  std::uint64_t refused = 0;
  std::uint64_t repairs = 0;
  std::uint64_t tunings = 0;  ///< of new structures, at once; no iterations
  std::uint64_t remeasured = 0;
  std::uint64_t given_back = 0;
  std::uint64_t demoted = 0;  ///< rejected when they were confirmed; counted as rejected, too

  friend bool operator==(const Counts&, const Counts&) = default;
};

/// Why a run, or this session of it, ended.
enum class EndReason {
  unfinished,  ///< it did not: there is more to ask or to tell
  budget,      ///< a budget is used up
  flat,        ///< what is left is expected to gain less than Budgets::until_flat
  exhausted,   ///< the proposer has nothing new
  finished,    ///< the proposer said that it has no more to do; another session goes on
  refused,     ///< every seed was rejected
  stopped,     ///< on request; resumable
  errors,      ///< too many Errors in a row; resumable
  replayed,    ///< a recording that was followed ends here, before the run's own end
};

std::string_view name_of(EndReason reason);

enum class BudgetName { iterations, evaluations, wall_time, money };

std::string_view name_of(BudgetName budget);

/// How a run stands when a session ends.
struct Outcome {
  EndReason reason = EndReason::unfinished;
  std::optional<BudgetName> budget;        ///< for `budget`: the one that is used up
  std::optional<Error> error;              ///< for `refused` and `errors`
  IndividualPtr best;                      ///< null while nothing was accepted
  std::optional<Evaluation> confirmation;  ///< of the best, if it was confirmed; always an acceptance
  Counts counts;
  std::map<RefusalCode, std::uint64_t> refusals;  ///< how many proposals were refusals, by why
  Spending spending;
  std::optional<double> next_usd;             ///< if money ended it: what the next call is taken to cost
  std::optional<ExpectedGain> expected_gain;  ///< of what is left, if the history tells
  double elapsed_s = 0;
  double confirming_s = 0;  ///< of them, measuring the best again; no budget counts it
  double session_s = 0;     ///< of them, in this session
  double engine_s = 0;      ///< of session_s, spent by the engine itself: journal, archive and policies
};

}  // namespace kernelsmith

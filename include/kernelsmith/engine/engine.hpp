// The engine: asks for children, sends them to the evaluator, keeps the archive, and journals everything so
// that a run can be resumed and replayed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/ticket.hpp>
#include <kernelsmith/engine/follow.hpp>
#include <kernelsmith/engine/options.hpp>
#include <kernelsmith/engine/outcome.hpp>

namespace kernelsmith {

class Committer;
class SearchState;

/// Called after a ticket took effect, on the thread that called run(), without a lock held.
using CommitCallback = std::function<void(const Commit&)>;

/// A search. Movable. Thread-safe, except that only one thread at a time may call run(). One mutex guards the
/// journal and all search state, and every method returns after its transaction.
///
/// Write a loop of your own with ask(), tell() and give_back(); run() is that loop with an evaluator and a
/// proposer.
class Engine {
 public:
  /// The commits that a call caused. In free mode there is exactly one. In deterministic mode there is none
  /// before the ticket's turn, then one or several.
  using Commits = std::vector<Commit>;

  /// Creates the run folder at `path`, or resumes the run in it. Errors: `invalid_argument` for options out
  /// of range or without a budget, and for settings that differ from the run's own; `corrupt` for a journal
  /// that contradicts itself; RunStore's errors.
  static Result<Engine> open(const std::filesystem::path& path, EngineOptions options,
                             std::shared_ptr<Evaluator> evaluator = nullptr,
                             std::shared_ptr<Proposer> proposer = nullptr);

  /// Like open(), with any journal: an empty journal begins a run, any other is resumed.
  static Result<Engine> create(std::unique_ptr<Journal> journal, EngineOptions options,
                               std::shared_ptr<Evaluator> evaluator = nullptr,
                               std::shared_ptr<Proposer> proposer = nullptr);

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// The next ticket; empty if there is nothing to ask now. Open tickets of an earlier session come first.
  /// They keep their number and selection.
  Result<std::optional<Ticket>> ask();

  /// Answers a ticket. Errors: `already_told`, `unknown_ticket`, and `invalid_argument` for an answer that
  /// does not fit the ticket: Propose takes a child with its evaluation or a Refusal; Evaluate and Remeasure
  /// take an evaluation. A child that repeats an earlier program gets that program's evaluation instead. A
  /// plain Source is a child (Origin::user) of the ticket's parent.
  Result<Commits> tell(TicketId ticket, Child child, Evaluation evaluation);
  Result<Commits> tell(TicketId ticket, Source child, Evaluation evaluation);
  Result<Commits> tell(TicketId ticket, Refusal refusal);
  Result<Commits> tell(TicketId ticket, Evaluation evaluation);

  /// Takes a proposer's answer, with its cost, that arrived in an earlier session. A child turns the ticket
  /// into an Evaluate; a refusal closes it. Errors: tell()'s.
  Result<Commits> propose(TicketId ticket, Proposal answer);

  /// Closes a ticket without a score, for a reason that is not the candidate's fault. It uses no budget.
  Result<Commits> give_back(TicketId ticket, Error error);

  /// True if no ticket is open and nothing is left to ask before a session with larger budgets.
  bool done() const;

  /// Asks and tells until the run is done, is stopped, or reaches EngineOptions::error_limit. When run()
  /// returns, everything is committed, nothing is in flight, and open tickets wait for the next session.
  /// Fails if the journal cannot be written or was removed (outcome() still returns the best), or if the
  /// evaluator or proposer is missing.
  Result<Outcome> run(const CommitCallback& on_commit = {}, std::stop_token stop = {});

  /// Repeats a recorded run, or the rest of it, in the order in which its answers took effect. Stops at the
  /// end of the recording, or when this run would do something that is not in it. Each session of the
  /// recording sets its own budgets and policies (EngineOptions::take_policies); renew() restores this run's
  /// own. Every step is computed again and compared; only answers and times come from the recording. The
  /// proposer is not asked. The evaluator is asked only if `evaluations` is `measured`. Open tickets are left
  /// to run(). Fails if a journal cannot be read or written.
  Result<Followed> follow(const Journal& recording, RecordedEvaluations evaluations,
                          const CommitCallback& on_commit = {}, std::stop_token stop = {});

  /// Continues like a resumed session, with these budgets and the policies of the engine's own options.
  Status renew(const Budgets& budgets);

  Outcome outcome() const;

  /// Calls `look` with the search state (kernelsmith/engine/search_state.hpp). The state does not change
  /// during the call. `look` must not call the engine.
  void inspect(const std::function<void(const SearchState&)>& look) const;

 private:
  Engine(std::unique_ptr<Committer> committer, std::shared_ptr<Evaluator> evaluator,
         std::shared_ptr<Proposer> proposer);

  std::unique_ptr<Committer> committer_;
  std::shared_ptr<Evaluator> evaluator_;
  std::shared_ptr<Proposer> proposer_;
};

}  // namespace kernelsmith

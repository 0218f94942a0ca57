// The engine: asks for children, has them evaluated, keeps the archive, and journals everything, so that a
// run can be resumed and replayed.
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

/// A search. Movable. Thread-safe, but for run(), which one thread may call at a time: one mutex guards the
/// journal and all search state, and every method returns after its transaction.
///
/// Own loops use ask(), tell() and give_back(); run() does the same with an evaluator and a proposer.
class Engine {
 public:
  /// The commits that a call brought about: exactly one in free mode; in deterministic mode none until the
  /// ticket's turn comes, then perhaps several.
  using Commits = std::vector<Commit>;

  /// Creates the run folder at `path`, or resumes the run that stands there. Refuses (`invalid_argument`)
  /// options out of range or without a budget, and settings that differ from the run's own; whatever RunStore
  /// refuses; and (`corrupt`) a journal that contradicts itself.
  static Result<Engine> open(const std::filesystem::path& path, EngineOptions options,
                             std::shared_ptr<Evaluator> evaluator = nullptr,
                             std::shared_ptr<Proposer> proposer = nullptr);

  /// The same over any journal: an empty one begins a run, another is resumed.
  static Result<Engine> create(std::unique_ptr<Journal> journal, EngineOptions options,
                               std::shared_ptr<Evaluator> evaluator = nullptr,
                               std::shared_ptr<Proposer> proposer = nullptr);

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// The next ticket; empty when there is nothing to ask now. Tickets that an earlier session left open come
  /// first, under their own number, with their own selection.
  Result<std::optional<Ticket>> ask();

  /// Answers a ticket. Refuses `already_told`, `unknown_ticket`, and (`invalid_argument`) an answer that does
  /// not fit the ticket: Propose takes a child with its evaluation or a Refusal, Evaluate and Remeasure an
  /// evaluation. A child that repeats an earlier program takes that program's evaluation instead. A plain
  /// Source is a child (Origin::user) of the ticket's parent.
  Result<Commits> tell(TicketId ticket, Child child, Evaluation evaluation);
  Result<Commits> tell(TicketId ticket, Source child, Evaluation evaluation);
  Result<Commits> tell(TicketId ticket, Refusal refusal);
  Result<Commits> tell(TicketId ticket, Evaluation evaluation);

  /// Takes what a proposer answered in an earlier session, at its cost: a child makes the ticket an Evaluate,
  /// a refusal closes it. Refuses as tell() does.
  Result<Commits> propose(TicketId ticket, Proposal answer);

  /// Closes a ticket unscored, for a reason that is not the candidate's. It uses up no budget.
  Result<Commits> give_back(TicketId ticket, Error error);

  /// Nothing is open and nothing is left to ask, for ever (until a session with larger budgets).
  bool done() const;

  /// Asks and tells until done, stopped or out of luck (EngineOptions::error_limit); then everything is
  /// committed, nothing is in flight, and open tickets wait for the next session. Fails if the journal
  /// cannot be written or was taken away (outcome() still gives the best), and without an evaluator and a
  /// proposer.
  Result<Outcome> run(const CommitCallback& on_commit = {}, std::stop_token stop = {});

  /// Repeats a recorded run, or the rest of it, in the order in which its answers took effect, and ends where
  /// the recording ends or this run would do something else. Each session of the recording brings its budgets
  /// and its policies along (EngineOptions::take_policies); renew() gives this run its own back. Every step
  /// is computed anew and compared; only answers and times are the recording's. The proposer is not asked.
  /// The evaluator is asked if evaluations are `measured`. Open tickets are left to run(). Fails if a journal
  /// cannot be read or written.
  Result<Followed> follow(const Journal& recording, RecordedEvaluations evaluations,
                          const CommitCallback& on_commit = {}, std::stop_token stop = {});

  /// Goes on with these budgets and the policies of its own options, as a session that was resumed would.
  Status renew(const Budgets& budgets);

  Outcome outcome() const;

  /// Calls `look` with the search state (kernelsmith/engine/search_state.hpp), which does not change
  /// meanwhile. `look` must not call the engine.
  void inspect(const std::function<void(const SearchState&)>& look) const;

 private:
  Engine(std::unique_ptr<Committer> committer, std::shared_ptr<Evaluator> evaluator,
         std::shared_ptr<Proposer> proposer);

  std::unique_ptr<Committer> committer_;
  std::shared_ptr<Evaluator> evaluator_;
  std::shared_ptr<Proposer> proposer_;
};

}  // namespace kernelsmith

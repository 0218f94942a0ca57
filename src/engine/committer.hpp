// The committer: owns the journal and the search state, and makes every change in a transaction. Used only by
// Engine and Driver.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/engine/follow.hpp>
#include <kernelsmith/engine/search_state.hpp>

namespace kernelsmith {

/// How often Journal::check is called while nothing arrives, so that a user who deletes a run soon sees the
/// error.
inline constexpr std::chrono::seconds kCheckJournalEvery{1};

/// Thread-safe: one mutex guards everything. An event is appended before it is applied. Everything that it
/// makes due follows in the same call. If an append fails, the state still matches the journal.
class Committer {
 public:
  using Commits = std::vector<Commit>;

  /// The outcome of a trial request.
  struct OpenedTrial {
    std::optional<Ticket> ticket;  ///< the ticket to be evaluated; empty if the child is a known program
    std::optional<Tried> known;    ///< the result, if the child is a known program
    Commits commits;
  };

  /// Replays the journal and begins a session.
  static Result<std::unique_ptr<Committer>> begin(std::unique_ptr<Journal> journal, EngineOptions options);

  Result<std::optional<Ticket>> ask();

  /// Takes a ticket's proposal; a refusal or a repeat closes it.
  Result<Commits> propose(TicketId ticket, Proposal proposal);
  /// Journals the cost of a failed attempt of a ticket. `goes_on` says that another attempt may follow.
  Result<Commits> charge(TicketId ticket, Cost cost, bool goes_on);
  /// Journals that a ticket's call is no longer under way, unless that is already journalled.
  Result<Commits> end_call(TicketId ticket);
  /// Journals the error that ended the session.
  Status fail_session(const Error& error);
  /// Whether the money that is left covers another attempt at a call that failed.
  bool affords_attempt() const;
  /// Whether the call of a ticket from ask() may start. A ticket that an earlier session or run() left open
  /// was budgeted there, and the money may be used up since.
  bool affords_call(TicketId ticket) const;
  /// Opens a trial's ticket within a ticket whose proposer is working. Errors: `over_budget`; tell()'s for
  /// the outer ticket, such as `already_told`; `invalid_argument` for a child that tell() would refuse;
  /// `not_found` for a program that is not accepted, `busy` for one that is being measured again.
  Result<OpenedTrial> open_trial(TicketId within, Trial trial);

  /// Takes a ticket's evaluation.
  Result<Commits> evaluate(TicketId ticket, Evaluation evaluation);
  /// Does propose() and evaluate() in one transaction.
  Result<Commits> tell(TicketId ticket, Child child, Evaluation evaluation);
  Result<Commits> give_back(TicketId ticket, Error error);

  /// The job of a ticket that has its child or is a re-measurement. Empty if the ticket needs no evaluation,
  /// or no longer needs one. Set `again` after an attempt that ended in an Error.
  std::optional<EvaluationJob> job(TicketId ticket, bool again);

  /// Answers a ticket from the cache if its child has become a repeat since it was proposed.
  Result<Commits> answer_repeat(TicketId ticket);

  /// Lets ask() hand out an unanswered ticket again.
  void put_back(TicketId ticket);

  /// Takes a step of a recording as this run's own. Requires would_do(). `measured` replaces the recorded
  /// evaluation. Consequences of the step are not appended, because they follow in the recording.
  Result<Commits> repeat(const Event& recorded, std::optional<Evaluation> measured);

  /// Begins a session with the budgets and policies of a recorded session; does nothing if the run has them.
  Status enter(const Budgets& budgets, const std::map<std::string, std::string>& recorded);

  /// Begins a session with these budgets and the options' own policies; does nothing if the run has them.
  Status renew(const Budgets& budgets);

  /// The position of this run in the recording.
  Result<Place> place_in(const Journal& recording) const;

  /// See Journal::check.
  Status check_journal() const;

  void notify(const Notice& notice);

  /// The rest of the budget of wall time; empty without such a budget.
  std::optional<double> seconds_left() const;

  Outcome outcome() const;
  void inspect(const std::function<void(const SearchState&)>& look) const;
  const EngineOptions& options() const { return options_; }

 private:
  Committer(std::unique_ptr<Journal> journal, EngineOptions options, SearchState state);

  /// Holds the mutex, and counts the time for which it is held as the engine's own.
  class KERNELSMITH_SCOPED_LOCK Turn {
   public:
    explicit Turn(const Committer& committer) KERNELSMITH_ACQUIRE(committer.mutex_)
        : lock_(committer.mutex_), busy_(committer.busy_), began_(Clock::now()) {}
    ~Turn() KERNELSMITH_RELEASE() { busy_ += Clock::now() - began_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    using Clock = std::chrono::steady_clock;
    const MutexLock lock_;
    Clock::duration& busy_;
    const Clock::time_point began_;
  };

  double elapsed_s() const KERNELSMITH_REQUIRES(mutex_);
  std::map<std::string, std::string> settings_with(const std::map<std::string, std::string>& recorded) const
      KERNELSMITH_REQUIRES(mutex_);
  Result<Commits> record(std::span<const Event> events) KERNELSMITH_REQUIRES(mutex_);
  Status settle(Commits& commits) KERNELSMITH_REQUIRES(mutex_);
  Status fill_in(Event& event) const KERNELSMITH_REQUIRES(mutex_);
  Status apply(const Event& event, Commits& commits) KERNELSMITH_REQUIRES(mutex_);
  Status check_told(TicketId ticket) const KERNELSMITH_REQUIRES(mutex_);
  Status check_child(const Child& child) const KERNELSMITH_REQUIRES(mutex_);
  Status check_outer(TicketId ticket) const KERNELSMITH_REQUIRES(mutex_);
  Status check_remeasured(ProgramId program) const KERNELSMITH_REQUIRES(mutex_);
  EvaluationArrived arrival(TicketId ticket, Evaluation evaluation) const KERNELSMITH_REQUIRES(mutex_);
  Result<Commits> record_arrival(TicketId ticket, Evaluation evaluation) KERNELSMITH_REQUIRES(mutex_);
  Ticket ticket_of(const OpenTicket& open) const KERNELSMITH_REQUIRES(mutex_);

  const EngineOptions options_;
  mutable Mutex mutex_;
  std::unique_ptr<Journal> journal_ KERNELSMITH_GUARDED_BY(mutex_);
  SearchState state_ KERNELSMITH_GUARDED_BY(mutex_);
  std::set<TicketId> to_issue_ KERNELSMITH_GUARDED_BY(mutex_);  ///< open tickets that are not being worked on
  /// The tickets that an earlier session or run() left open, whether or not they were issued again.
  std::set<TicketId> left_open_ KERNELSMITH_GUARDED_BY(mutex_);
  double session_began_s_ KERNELSMITH_GUARDED_BY(mutex_);  ///< by the options' clock
  /// By the options' clock. Following a recording changes it.
  double began_s_ KERNELSMITH_GUARDED_BY(mutex_);
  double before_s_ KERNELSMITH_GUARDED_BY(mutex_);  ///< the run's used wall time at began_s_
  mutable std::chrono::steady_clock::duration busy_ KERNELSMITH_GUARDED_BY(mutex_){};  ///< time of all Turns
};

/// The notices about a session that continues with other settings than the session before it.
std::vector<Notice> notices_of_changes(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& now);

/// A notice for each axis for which the first accepted program has no number.
std::vector<Notice> notices_of_axes(const std::vector<AxisSpec>& axes, const Metrics& metrics);

/// The warning that the spending has passed a mark of the money budget.
Notice money_warning(const SearchState& state);

}  // namespace kernelsmith

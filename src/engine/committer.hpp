// The committer: owns the journal and the search state, and lets every change pass through one transaction.
// Engine's own; Engine and Driver are its callers.
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

/// How often Journal::check is asked while nothing arrives: whoever deletes a run learns of it before turning
/// away.
inline constexpr std::chrono::seconds kCheckJournalEvery{1};

/// Thread-safe: one mutex guards everything. An event is appended before it is applied, and whatever it makes
/// due follows in the same call; if an append fails the state stays as the journal has it.
class Committer {
 public:
  using Commits = std::vector<Commit>;

  /// What became of a trial that was asked for.
  struct OpenedTrial {
    std::optional<Ticket>
        ticket;                  ///< to be evaluated; empty if the child is a program that was there already
    std::optional<Tried> known;  ///< then that one
    Commits commits;
  };

  /// Replays the journal and begins a session.
  static Result<std::unique_ptr<Committer>> begin(std::unique_ptr<Journal> journal, EngineOptions options);

  Result<std::optional<Ticket>> ask();

  /// Takes a ticket's proposal; a refusal or a repeat closes it.
  Result<Commits> propose(TicketId ticket, Proposal proposal);
  /// Journals what an attempt cost that gave its ticket nothing; `goes_on` if another one may follow.
  Result<Commits> charge(TicketId ticket, Cost cost, bool goes_on);
  /// Journals that no call is under way for a ticket any more, unless the journal knows.
  Result<Commits> end_call(TicketId ticket);
  /// Journals what ended the session.
  Status fail_session(const Error& error);
  /// Whether the money left covers another attempt at a call that failed.
  bool affords_attempt() const;
  /// Whether a ticket that ask() gave may be called for: what was left open by an earlier session or run()
  /// got its room there, and the money may be gone.
  bool affords_call(TicketId ticket) const;
  /// Opens a ticket within one whose proposer is at work. Errors: `over_budget`; `already_told` and the like
  /// of the outer ticket; `invalid_argument` for a child that tell() would refuse; `not_found` for a program
  /// that is not accepted, `busy` for one that is being measured again.
  Result<OpenedTrial> open_trial(TicketId within, Trial trial);

  /// Takes a ticket's evaluation.
  Result<Commits> evaluate(TicketId ticket, Evaluation evaluation);
  /// Both at once.
  Result<Commits> tell(TicketId ticket, Child child, Evaluation evaluation);
  Result<Commits> give_back(TicketId ticket, Error error);

  /// What to evaluate for a ticket that has its child or is a re-measurement; empty if the ticket needs
  /// none (any more). `again` after an attempt that ended in an Error.
  std::optional<EvaluationJob> job(TicketId ticket, bool again);

  /// Answers a ticket from the cache if its child became a repeat since it was proposed.
  Result<Commits> answer_repeat(TicketId ticket);

  /// Lets ask() hand out a ticket again that was not answered.
  void put_back(TicketId ticket);

  /// Takes a step of a recording as this run's own; would_do() holds. `measured` stands in place of the
  /// recorded evaluation. What the step makes due is not recorded here: it stands in the recording.
  Result<Commits> repeat(const Event& recorded, std::optional<Evaluation> measured);

  /// Begins a session with the budgets and policies of a recording's; does nothing if the run has them.
  Status enter(const Budgets& budgets, const std::map<std::string, std::string>& recorded);

  /// Begins a session with these budgets and the options' own policies; does nothing if the run has them.
  Status renew(const Budgets& budgets);

  /// Where in the recording this run stands.
  Result<Place> place_in(const Journal& recording) const;

  /// Journal::check.
  Status check_journal() const;

  void notify(const Notice& notice);

  /// What is left of the budget of wall time; empty if there is none.
  std::optional<double> seconds_left() const;

  Outcome outcome() const;
  void inspect(const std::function<void(const SearchState&)>& look) const;
  const EngineOptions& options() const { return options_; }

 private:
  Committer(std::unique_ptr<Journal> journal, EngineOptions options, SearchState state);

  /// Holds the mutex, and counts the time that it is held as the engine's own.
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
  std::set<TicketId> to_issue_ KERNELSMITH_GUARDED_BY(mutex_);  ///< open, and nobody works on them
  /// Those and the issued ones that were not opened since.
  std::set<TicketId> left_open_ KERNELSMITH_GUARDED_BY(mutex_);
  double session_began_s_ KERNELSMITH_GUARDED_BY(mutex_);  ///< on the options' clock
  double began_s_ KERNELSMITH_GUARDED_BY(mutex_);   ///< likewise; a recording that is followed moves it
  double before_s_ KERNELSMITH_GUARDED_BY(mutex_);  ///< wall time that the run had used at began_s_
  mutable std::chrono::steady_clock::duration busy_ KERNELSMITH_GUARDED_BY(mutex_){};  ///< of all Turns
};

/// What is worth telling about a session that goes on with other settings than the one before it.
std::vector<Notice> notices_of_changes(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& now);

/// One for each axis that the first accepted program has no number for.
std::vector<Notice> notices_of_axes(const std::vector<AxisSpec>& axes, const Metrics& metrics);

/// A mark of the budget of money was passed.
Notice money_warning(const SearchState& state);

}  // namespace kernelsmith

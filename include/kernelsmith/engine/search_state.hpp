// The state of a search, computed from the journal's events alone: archive, lineage, counts and open tickets.
// Live runs and replay() use the same code.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <kernelsmith/core/event.hpp>
#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/engine/arms.hpp>
#include <kernelsmith/engine/expected_gain.hpp>
#include <kernelsmith/engine/knob_memory.hpp>
#include <kernelsmith/engine/options.hpp>
#include <kernelsmith/engine/outcome.hpp>
#include <kernelsmith/islands/archipelago.hpp>
#include <kernelsmith/islands/lineage.hpp>

namespace kernelsmith {

/// The purpose of a ticket. It decides which budgets the ticket uses, as the comments say.
enum class TicketKind {
  seed,       ///< an evaluation
  iteration,  ///< an iteration, and an evaluation unless it is a repeat or a refusal
  repair,     ///< an evaluation, unless it is a repeat or a refusal
  tuning,     ///< like `repair`, for tuning a new structure
  trial,      ///< an evaluation, for a proposer that has not answered yet
  duel,       ///< an evaluation
  confirm,    ///< an evaluation
};

/// A short record of an evaluated program. Its text and evaluation stay in memory only while something holds
/// the individual: an island, an open ticket, a waiting duel or repair, or the kin of recent requests.
struct ProgramRecord {
  Digest source;  ///< Source::digest
  Origin origin = Origin::seed;
  bool accepted = false;
  Cell cell;  ///< its cell if it was accepted
  /// If it was accepted: the low end, the median and the standard deviation of its fitness.
  double low = 0, fitness = 0, deviation = 0;
  std::uint64_t proposed_at = 0;            ///< the event's position in the journal
  std::vector<std::uint64_t> evaluated_at;  ///< positions of its evaluation and of each evaluation that adds
                                            ///< to it
  mutable std::weak_ptr<const Individual> individual;  ///< the current verdict
};

/// A ticket between TicketOpened and the moment it takes effect.
struct OpenTicket {
  TicketOpened opened;
  TicketKind kind = TicketKind::iteration;
  Selection selection;        ///< for `iteration`, `repair` and `tuning`
  IndividualPtr challenger;   ///< for `duel` and `confirm`
  IndividualPtr incumbent;    ///< for `duel`, and for `confirm` if two programs are measured together
  std::uint32_t attempt = 0;  ///< the attempt number of the evaluation
  std::optional<Proposal> proposal;
  std::uint64_t proposed_at = 0, answered_at = 0;  ///< the events' positions in the journal
  std::optional<Digest> fingerprint;               ///< the proposed child's
  std::optional<KnobSetting> knobs;                ///< the proposed child's
  std::optional<Digest> tunes;                     ///< for Operator::tune: the parent's structure
  double forecast_usd = 0;           ///< upper limit of its call's cost, while no call of this kind was
                                     ///< answered
  std::vector<Cost> costs;           ///< costs of its calls; in deterministic mode not counted yet
  bool told_of_failure = false;      ///< a failed call was reported in this session, so the call is not under
                                     ///< way any more
  std::vector<IndividualPtr> tried;  ///< programs that the proposer had evaluated before it answered
  std::uint64_t trials = 0;          ///< number of tickets that were opened within this one
  /// Its answer. In deterministic mode it waits here for its turn.
  std::variant<std::monostate, EvaluationArrived, TicketClosed> answer;

  bool answered() const { return answer.index() != 0; }
  const Child* child() const { return proposal ? proposal->child() : nullptr; }
};

/// Archive, lineage, counts, open tickets and the queue of duels and repairs. Pure: equal options and equal
/// events give equal states. Not thread-safe.
class SearchState {
 public:
  using Commits = std::vector<Commit>;

  /// Refuses (`invalid_argument`) options out of range; `where` is the option's name.
  static Result<SearchState> create(EngineOptions options);

  /// Sets the journal from which individual() reads programs that are not in memory. All its events must have
  /// been applied, in order. It must outlive the state or be replaced. If it is null, such a program is
  /// `not_found`.
  void read_from(const Journal* journal) { journal_ = journal; }

  /// Fills in the individual of a commit that repeats a program, if that program is not in memory.
  Status complete(Commit& commit) const;

  /// Accepts sessions whose settings differ from the options.
  void accept_any_settings() { checks_settings_ = false; }

  /// Replaces the journal's budgets until the next session, to see what is left to do with these budgets.
  void set_budgets(const Budgets& budgets) { budgets_ = budgets; }

  /// Applies one event and returns the commits that it causes. Refuses (`corrupt`) an event that contradicts
  /// those before it, and (`invalid_argument`) a session with other settings; after that the state is
  /// unusable.
  Result<Commits> apply(const Event& event);

  // Results.
  const Archipelago& archipelago() const { return archipelago_; }
  const Lineage& lineage() const { return lineage_; }
  const Counts& counts() const { return counts_; }
  /// The cost of all calls so far, according to the journal.
  Spending spending() const;
  /// The program that won when the run measured the best programs again; else the archipelago's best. Null
  /// while nothing was accepted.
  IndividualPtr best() const;
  /// The gains of each operator with each model.
  const ArmRecord& arms() const { return arms_; }
  /// The number of refused proposals by reason. Their sum is Counts::refused.
  const std::map<RefusalCode, std::uint64_t>& refusals() const { return refusals_; }
  /// Every evaluated program, by id.
  const std::map<ProgramId, ProgramRecord>& programs() const { return programs_; }
  /// A program with its current evaluation, without artifacts; it is read from the journal if it is not in
  /// memory. Errors: the journal's, and `corrupt` for a program that does not exist.
  Result<IndividualPtr> individual(ProgramId id) const;
  /// The number of rejected programs for each rule, in the order of the stages.
  const std::map<std::pair<Stage, RejectionCode>, std::uint64_t>& failures() const { return failures_; }
  /// A program that was measured again.
  struct Confirmation {
    std::optional<Evaluation> evaluation;  ///< none if an Error ended it
    bool asked_for = false;                ///< a proposer asked for it, not the run at its end
    bool chose = false;                    ///< it helped to choose the best, so its numbers would be too good
    std::optional<Evaluation> latest = {};  ///< the latest measurement, if it was measured again after that,
                                            ///< for whatever reason

    bool is_figure() const { return evaluation && !asked_for && !chose; }
  };
  /// Programs that were confirmed, and programs whose confirmation ended in an Error. A later measurement
  /// that a proposer asks for does not replace the numbers.
  const std::map<ProgramId, Confirmation>& confirmations() const { return confirmations_; }
  /// The evaluation in which the run confirmed the best program, from samples that were not used to choose
  /// it. Null if there is none.
  const Evaluation* confirmation_of_best() const;
  /// A program as it is shown to people, so that all texts and pages give the same number. Its speeds come
  /// from the run's own confirmation, without the samples that made the program win. If there is no
  /// confirmation, they come from all its measurements together.
  IndividualPtr shown(IndividualPtr one) const;
  /// Programs that were rejected when they were measured again, with the rejection, in the order of the
  /// rejections.
  const std::vector<IndividualPtr>& demoted() const { return demoted_; }

  // Progress.
  const Budgets& budgets() const { return budgets_; }
  double elapsed_s() const { return elapsed_s_; }
  /// The part of elapsed_s() that was spent on measuring the best again. The budget of wall time does not
  /// count it.
  double confirming_s() const { return confirming_s_; }
  /// The settings that the last session recorded; empty before the first session.
  const std::map<std::string, std::string>& session_settings() const { return session_settings_; }
  /// The error that ended the last session, if any.
  const std::optional<Error>& session_error() const { return session_error_; }
  /// Tickets with a call of unknown outcome: the call is under way, or its process was killed.
  std::vector<TicketId> calls_under_way() const;
  /// The used share, 0 to 1, of the budget that is used up most. Wall time is counted up to the last commit.
  double progress() const;
  /// The history of the best.
  const std::vector<Improvement>& improvements() const { return history_.improvements(); }
  /// The expected gain of the remaining evaluations and iterations. If neither is limited, it is the gain of
  /// as many evaluations as were made. Empty while the best has no fitness above 0.
  std::optional<ExpectedGain> expected_gain() const;
  std::uint64_t migrations() const { return migrations_; }
  /// How many marks of the budget of money were passed. The marks are a half, four fifths, and all of it.
  std::uint64_t money_marks() const { return money_marks_; }
  /// Returns true if the journal lacks a mark that was passed.
  bool money_mark_is_due() const { return marks_passed() > money_marks_; }
  /// Whether a failed call may be tried again: the money covers it and all calls under way.
  bool room_for_attempt() const;
  const std::map<TicketId, OpenTicket>& open() const { return open_; }
  TicketId next_ticket() const { return {next_ticket_}; }

  /// The next event that must be journalled before the state is settled: a crossing of a period, a seed's
  /// ticket, the answer to a refusal or a repeat, or in deterministic mode the next ticket. Append it, apply
  /// it, and call again. For a repeat (EvaluationSource::cached) the caller fills in the evaluation from
  /// individual().
  std::optional<Event> due(double elapsed_s) const;

  /// Whether a trial may be opened now, because budgets and time allow an evaluation.
  bool room_for_trial(double elapsed_s) const;

  /// The number of evaluations left for trials and answers. It includes one for each awaited answer and
  /// excludes those that the end of the run needs. Empty if evaluations are unlimited.
  std::optional<std::uint64_t> evaluations_left() const;

  /// The next ticket to open; empty if budgets, open tickets or the pipeline forbid it.
  std::optional<TicketOpened> next_opening(double elapsed_s) const;

  /// The reason why no ticket can be opened after the open ones are answered; `unfinished` if one can.
  EndReason end_reason(double elapsed_s) const;

  /// What Budgets::calls limits.
  std::uint64_t calls() const { return calls_; }

  /// The assumed cost of the next iteration's call.
  double next_call_usd() const;

  /// For EndReason::budget: the name of the budget.
  BudgetName used_up(double elapsed_s) const;

  /// The program with the same fingerprint as `source`, if there is one.
  std::optional<ProgramId> program_like(const Source& source) const;

  /// The earlier program that an open ticket's child repeats, if any.
  std::optional<ProgramId> repeated_program(TicketId ticket) const;
  /// Selection::kin for a ticket that asks a model: EngineOptions::kin ancestors and as many children.
  std::vector<ProgramId> kin_of(const TicketOpened& opened) const;
  /// The earlier program that compiled to the same bytes, so that both share its verdict. Empty if that
  /// program was rejected and this evaluation is accepted, because the machine may have caused the rejection.
  /// But a best program that was rejected when it was confirmed stays rejected.
  std::optional<ProgramId> program_compiled_to(const Evaluation& evaluation) const;

  /// Gives an open ticket's evaluation a new attempt number, because the last attempt ended in an Error.
  void take_new_attempt(TicketId ticket);

  /// The results of knob values; empty without EngineOptions::knobs.
  const KnobMemory& knobs() const { return knobs_; }

  /// The canonical text of counts, arms, lineage, archipelago and knobs. Equal states have equal texts, byte
  /// for byte.
  std::string to_text() const;

 private:
  /// A duel or a repair that waits for its ticket.
  struct FollowUp {
    IslandId island;
    ProgramId program;                   ///< the challenger, or the rejected child
    std::optional<ProgramId> incumbent;  ///< set for a duel
    bool is_tuning = false;              ///< the accepted program is to be tuned
    /// Both individuals, so that they stay in memory.
    std::array<IndividualPtr, 2> held{};

    bool is(IslandId on, ProgramId what, std::optional<ProgramId> against) const {
      return island == on && program == what && incumbent == against;
    }
  };

  SearchState(EngineOptions options, const Grid& grid);

  // One function for each event.
  Status check_settings(const SessionStarted& session) const;
  Status begin_session(const SessionStarted& session);
  Status open_ticket(const TicketOpened& opened);
  Status take_proposal(const ProposalArrived& arrived);
  Status take_failure(const CallFailed& failed);
  Status take_answer(const EvaluationArrived& arrived);
  Status take_answer(const TicketClosed& closed);
  Status cross_period(const PeriodCrossed& crossed);
  Result<OpenTicket*> unanswered(TicketId id);

  // Money.
  /// The cost of one kind of ticket (edit, rewrite, ...) for one model, with all attempts.
  struct KnownCalls {
    double dearest_usd = 0;
    bool answered = false;  ///< the model has answered, not only failed
  };
  void charge(OpenTicket& ticket, const Cost& cost);
  void count(const OpenTicket& ticket, const Cost& cost);
  bool knows(const std::string& model) const;
  bool knows(const TicketOpened& call) const;
  double expected_usd(const TicketOpened& call) const;
  double forecast_usd(const TicketOpened& call) const;
  std::uint64_t marks_passed() const;
  bool room_for_call(const TicketOpened& next) const;
  bool pays() const { return budgets_.usd.has_value(); }

  // Committing.
  Result<Commits> commit_what_may(std::optional<TicketId> answered);
  Result<Commit> commit(TicketId id);
  Status commit_evaluation(const OpenTicket& ticket, const EvaluationArrived& arrived, Commit& commit);
  std::optional<ProgramId> earlier_program(const OpenTicket& ticket, const EvaluationArrived& arrived) const;
  Status commit_program(const OpenTicket& ticket, const EvaluationArrived& arrived, Commit& commit);
  Status commit_duel(const OpenTicket& ticket, const EvaluationArrived& arrived, Commit& commit);
  Status commit_confirmation(const OpenTicket& ticket, const EvaluationArrived& arrived, Commit& commit);
  Result<IndividualPtr> add_evidence(const OpenTicket& ticket, const Evaluation& evaluation);
  void note_last_look(const OpenTicket& ticket, const Evaluation& evaluation, const IndividualPtr& measured);
  Status replace(const IndividualPtr& measured);
  Status demote(const IndividualPtr& rejected, std::uint64_t answered_at);
  std::vector<ProgramId> heirs_of(Cell cell, ProgramId leaving);
  void keep(ProgramRecord& record, const IndividualPtr& individual);
  void record_try(const OpenTicket& ticket, const Commit& commit);
  void commit_closing(const OpenTicket& ticket, const TicketClosed& closed, Commit& commit);
  Evaluation described(const Source& source, const Evaluation& evaluation) const;
  void queue_duel(IslandId island, const IndividualPtr& challenger, const IndividualPtr& incumbent);
  void queue_repair(IslandId island, const IndividualPtr& rejected, const OpenTicket& ticket);
  void queue_tunings(IslandId island, const IndividualPtr& accepted, const OpenTicket& ticket);

  // History for requests.
  void note_latest(const IndividualPtr& individual);
  PastPrograms past() const;

  // Knobs.
  std::optional<KnobSetting> knobs_of(const Source& source) const;
  void look_up_knobs(OpenTicket& ticket) const;
  void note_knobs(const std::optional<KnobSetting>& setting, const ProgramRecord& record);

  // Deciding.
  enum class Opening { none, follow_up, iteration, confirmation };
  Opening opening(double elapsed_s) const;
  bool seeding() const;
  bool seeds_failed() const;
  bool exhausted() const;
  bool flat() const;
  bool time_is_up(double elapsed_s) const;
  /// A measurement of one program, or of two together, at the end of a run.
  struct LastLook {
    ProgramId program;
    std::optional<ProgramId> beside;
  };
  std::optional<LastLook> next_look() const;
  std::vector<IndividualPtr> rivals_of(const Measurement& best) const;
  std::uint64_t room_for_rivals() const;
  std::uint64_t looks_to_come() const;
  bool room_for_evaluation() const;
  bool room_for_iteration() const;
  bool room_among_calls() const;
  /// Whether it depends on the next ticket if it may be opened.
  bool limits_calls() const { return budgets_.usd || !room_among_calls(); }
  bool begins(const Island& island) const;
  bool wants_translation() const;
  bool room_for_translation() const;
  const FollowUp* next_follow_up() const;
  bool crossing_due() const;
  Event foregone_answer(double elapsed_s) const;
  TicketOpened open_follow_up(const FollowUp& follow_up) const;
  TicketOpened open_iteration() const;
  TicketOpened open_confirmation(const LastLook& look) const;
  Result<IndividualPtr> read(ProgramId id, const ProgramRecord& record) const;
  const Digest& fingerprint_of(const Source& source) const;

  /// The policies of the original options, for sessions that recorded no others.
  struct OwnPolicies {
    std::shared_ptr<const Sampler> sampler;
    std::shared_ptr<const Operators> operators;
    bool ends_when_exhausted = false;
  };

  EngineOptions options_;
  OwnPolicies own_;
  const Journal* journal_ = nullptr;
  std::uint64_t position_ = 0;  ///< position of the last event that was applied
  bool checks_settings_ = true;
  Archipelago archipelago_;
  Lineage lineage_;
  Counts counts_;
  ArmRecord arms_;
  std::map<RefusalCode, std::uint64_t> refusals_;
  Spending spending_;                                                   ///< counted costs
  std::map<std::pair<std::string, Operator>, KnownCalls> known_calls_;  ///< counted costs by ticket
  std::uint64_t money_marks_ = 0;
  std::uint64_t calls_ = 0;
  Budgets budgets_;
  double elapsed_s_ = 0;
  double confirming_s_ = 0;
  std::map<std::string, std::string> session_settings_;
  std::optional<Error> session_error_;
  std::uint64_t migrations_ = 0;
  std::uint64_t next_ticket_ = 0;
  /// The number of tickets that took effect. In deterministic mode it is also the next ticket to take effect.
  std::uint64_t committed_ = 0;
  TicketId last_committed_;
  bool seed_passed_ = false;   ///< a seed was accepted or given back, so not every seed was rejected
  unsigned idle_ = 0;          ///< iterations in a row that brought nothing new
  bool nothing_left_ = false;  ///< these iterations include a refusal `exhausted`
  bool finished_ = false;      ///< this session got a refusal `finished`

  std::map<TicketId, OpenTicket> open_;
  std::set<TicketId>
      foregone_;  ///< open tickets whose proposal was a refusal or a repeat: they need no evaluator
  std::deque<FollowUp> follow_ups_;
  KnobMemory knobs_;
  std::uint64_t tunings_queued_ = 0;  ///< all duels, not only waiting ones
  std::map<ProgramId, ProgramRecord> programs_;
  /// An accepted program in its cell. A program that is measured again is listed twice; an entry that differs
  /// from the program's record is stale.
  struct Standing {
    double low = 0;
    ProgramId program;

    /// Orders a heap: the highest low end is in front, of equals the older program.
    friend bool operator<(const Standing& a, const Standing& b) {
      return std::tie(a.low, b.program) < std::tie(b.low, a.program);
    }
  };
  std::unordered_map<Cell, std::vector<Standing>> standings_;                ///< heaps
  std::unordered_map<ProgramId, std::vector<ProgramId>> accepted_children_;  ///< ascending
  std::deque<IndividualPtr> kin_held_;         ///< kin of recent requests, read from the journal
  std::map<ProgramId, IndividualPtr> latest_;  ///< the latest EngineOptions::history programs
  std::map<std::pair<Stage, RejectionCode>, std::uint64_t> failures_;
  std::unordered_map<Digest, ProgramId> by_fingerprint_;
  mutable std::optional<std::pair<Source, Digest>> last_fingerprint_;
  std::unordered_map<Digest, ProgramId> by_binary_;  ///< Report::binary
  std::map<ProgramId, std::uint32_t> attempts_;      ///< the latest attempt of each program that had more
                                                     ///< than one
  std::map<ProgramId, unsigned> repairs_;  ///< number of repairs in a row that led to a rejected program
  std::map<std::pair<ProgramId, ProgramId>, unsigned> duels_;
  std::map<ProgramId, Confirmation> confirmations_;
  /// The best by the measurements at the end of a run.
  struct Leader {
    IndividualPtr individual;
    std::optional<Measurement> fitness;  ///< its fitness in that measurement; empty after an Error
    TicketId looked_at;                  ///< the ticket that measured it
  };
  std::optional<Leader> leader_;
  std::set<ProgramId> looked_at_;  ///< programs that were measured at an end of the run
  /// The number of measurements at the run's end since a program was last accepted. It counts a measurement
  /// together with the leader, or one that ended in a rejection or an Error; not the first measurement, nor
  /// the winner's.
  std::uint64_t extra_looks_ = 0;
  std::vector<IndividualPtr> demoted_;
  ImprovementHistory history_;
};

/// The state after a journal's events before position `until`. The state has no journal to read from: see
/// SearchState::read_from.
Result<SearchState> replay(const Journal& journal, EngineOptions options,
                           std::uint64_t until = std::numeric_limits<std::uint64_t>::max());

/// Like replay(), with the settings in the journal, for callers that lack the options of the program that
/// began the run. Options that are not in a journal have their defaults: EngineOptions::describe
/// (Grid::absent_features returns the features that axes lack), migration, EngineOptions::knobs (so `tunings`
/// count as iterations), and the sampler and operators, which matter only for new tickets. `complete` may set
/// options from the settings.
Result<SearchState> replay_as_recorded(
    const Journal& journal,
    const std::function<void(const std::map<std::string, std::string>& settings, EngineOptions& options)>&
        complete = {});

}  // namespace kernelsmith

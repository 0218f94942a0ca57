// The search as a fold over the journal's events: archive, lineage, counts and what is open. The engine
// drives live runs through it, and replay() rebuilds it, by the same code.
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

/// What a ticket is for, and with it which budgets it uses.
enum class TicketKind {
  seed,       ///< an evaluation
  iteration,  ///< an iteration, and an evaluation unless it is a repeat or a refusal
  repair,     ///< an evaluation, unless it is a repeat or a refusal
  tuning,     ///< likewise: a new structure's knobs, at once
  trial,      ///< an evaluation: a child of a proposer that has not answered yet
  duel,       ///< an evaluation
  confirm,    ///< an evaluation
};

/// What is kept of every program that was evaluated, however many there are. Text and evaluation stay in
/// memory only while somebody holds the individual: an island, an open ticket, a duel or a repair that waits,
/// or kin of late requests.
struct ProgramRecord {
  Digest source;  ///< Source::digest
  Origin origin = Origin::seed;
  bool accepted = false;
  Cell cell;                                   ///< if it was accepted
  double low = 0, fitness = 0, deviation = 0;  ///< likewise: low end, median, and its standard deviation
  std::uint64_t proposed_at = 0;               ///< the event's position in the journal
  std::vector<std::uint64_t> evaluated_at;     ///< likewise: its evaluation, and each that adds to it
  mutable std::weak_ptr<const Individual> individual;  ///< as it stands now
};

/// A ticket between TicketOpened and the moment it takes effect.
struct OpenTicket {
  TicketOpened opened;
  TicketKind kind = TicketKind::iteration;
  Selection selection;        ///< for `iteration`, `repair` and `tuning`
  IndividualPtr challenger;   ///< for `duel` and `confirm`
  IndividualPtr incumbent;    ///< for `duel`, and for `confirm` if it is measured beside another one
  std::uint32_t attempt = 0;  ///< of the evaluation
  std::optional<Proposal> proposal;
  std::uint64_t proposed_at = 0, answered_at = 0;  ///< the events' positions in the journal
  std::optional<Digest> fingerprint;               ///< of the proposed child
  std::optional<KnobSetting> knobs;                ///< of the proposed child
  std::optional<Digest> tunes;                     ///< for Operator::tune: the parent's structure
  double forecast_usd = 0;           ///< of a call, if its kind has not answered and the most is known
  std::vector<Cost> costs;           ///< of its calls; in deterministic mode they do not count yet
  bool told_of_failure = false;      ///< in this session: no call is under way for it any more
  std::vector<IndividualPtr> tried;  ///< programs that its proposer had evaluated before it answered
  std::uint64_t trials = 0;          ///< tickets that were opened within this one
  /// What it was told. In deterministic mode it waits here for its turn.
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

  /// The journal whose events were applied, all of them in order: individual() reads from it what is not in
  /// memory. It must outlive the state, or be replaced; null: such an individual is `not_found`.
  void read_from(const Journal* journal) { journal_ = journal; }

  /// Fills in the individual of a commit that repeats a program which nobody holds.
  Status complete(Commit& commit) const;

  /// Takes sessions with other settings than the options'.
  void accept_any_settings() { checks_settings_ = false; }

  /// Until the next session: other budgets than the journal's, to ask what they would leave to do.
  void set_budgets(const Budgets& budgets) { budgets_ = budgets; }

  /// Lets one event take effect and returns the commits that it brought about. Refuses (`corrupt`) an event
  /// that contradicts those before it, and (`invalid_argument`) a session with other settings; the state is
  /// then unusable.
  Result<Commits> apply(const Event& event);

  // What was found.
  const Archipelago& archipelago() const { return archipelago_; }
  const Lineage& lineage() const { return lineage_; }
  const Counts& counts() const { return counts_; }
  /// What the journal says of all calls so far.
  Spending spending() const;
  /// Who won when the run measured the best again, else the archipelago's best. Null while nothing was
  /// accepted.
  IndividualPtr best() const;
  /// What each operator of each model has brought.
  const ArmRecord& arms() const { return arms_; }
  /// How many proposals were refusals, by why. Their sum is Counts::refused.
  const std::map<RefusalCode, std::uint64_t>& refusals() const { return refusals_; }
  /// Every evaluated program, by id.
  const std::map<ProgramId, ProgramRecord>& programs() const { return programs_; }
  /// A program with its evaluation as it stands now, artifacts left out; read from the journal if nobody
  /// holds it. Errors: the journal's, and `corrupt` for a program that does not exist.
  Result<IndividualPtr> individual(ProgramId id) const;
  /// Rejected programs by what they broke, in the order of the stages.
  const std::map<std::pair<Stage, RejectionCode>, std::uint64_t>& failures() const { return failures_; }
  /// A program measured again.
  struct Confirmation {
    std::optional<Evaluation> evaluation;   ///< none if an Error ended it
    bool asked_for = false;                 ///< by a proposer, and not by the run at its end
    bool chose = false;                     ///< it took part in choosing the best, so it would flatter it
    std::optional<Evaluation> latest = {};  ///< by whomever it was asked for since

    bool is_figure() const { return evaluation && !asked_for && !chose; }
  };
  /// The programs that were confirmed, or were to be. What a proposer asks for later does not take the place
  /// of a figure.
  const std::map<ProgramId, Confirmation>& confirmations() const { return confirmations_; }
  /// The best program's evaluation when the run confirmed it, by samples that had no part in choosing it;
  /// null if there is none.
  const Evaluation* confirmation_of_best() const;
  /// A program as people are shown it, so that all texts and pages have one number for it: with the speeds
  /// that the run's own confirmation measured if it has one, which is by itself, and nothing that made the
  /// program win; else with those of all its measurements together.
  IndividualPtr shown(IndividualPtr one) const;
  /// The programs that were rejected when they were measured again, in that order, with that
  /// rejection.
  const std::vector<IndividualPtr>& demoted() const { return demoted_; }

  // How far it is.
  const Budgets& budgets() const { return budgets_; }
  double elapsed_s() const { return elapsed_s_; }
  /// The part of it that measuring the best again took. It comes on top of the budget of wall time.
  double confirming_s() const { return confirming_s_; }
  /// What the last session recorded; empty before the first.
  const std::map<std::string, std::string>& session_settings() const { return session_settings_; }
  /// What ended the last session, if an error did.
  const std::optional<Error>& session_error() const { return session_error_; }
  /// Tickets with a call whose outcome is not known yet: they go on, or went down with their process.
  std::vector<TicketId> calls_under_way() const;
  /// The largest share of a budget that is used, 0 to 1. Wall time counts up to the last commit.
  double progress() const;
  /// How the best has improved.
  const std::vector<Improvement>& improvements() const { return history_.improvements(); }
  /// What the evaluations and iterations that are left are expected to gain, or as many evaluations as were
  /// made if neither is limited. Empty while no best has a fitness above 0.
  std::optional<ExpectedGain> expected_gain() const;
  std::uint64_t migrations() const { return migrations_; }
  /// How many marks of the budget of money were passed: a half, four fifths, and the budget itself.
  std::uint64_t money_marks() const { return money_marks_; }
  /// True if the journal lacks a mark that was passed.
  bool money_mark_is_due() const { return marks_passed() > money_marks_; }
  /// Whether a call that failed may be tried again: the money covers all that is under way, it included.
  bool room_for_attempt() const;
  const std::map<TicketId, OpenTicket>& open() const { return open_; }
  TicketId next_ticket() const { return {next_ticket_}; }

  /// What the journal lacks for the state to be settled: a crossing of a period, a seed's ticket, the answer
  /// to a refusal or a repeat, in deterministic mode the next ticket. Append it, apply it, and ask again. The
  /// evaluation of a repeat (EvaluationSource::cached) is left to the caller: it is individual()'s.
  std::optional<Event> due(double elapsed_s) const;

  /// Whether a ticket may be opened within another one now: budgets and time allow an evaluation.
  bool room_for_trial(double elapsed_s) const;

  /// The evaluations that are left for trials and answers, one of them for each answer that is awaited; empty
  /// without a budget of them. What the end of the run is going to measure is taken off.
  std::optional<std::uint64_t> evaluations_left() const;

  /// The ticket that could be opened now; empty if budgets, open tickets or the pipeline forbid it.
  std::optional<TicketOpened> next_opening(double elapsed_s) const;

  /// Why nothing more can be opened once what is open was told; `unfinished` if more can be.
  EndReason end_reason(double elapsed_s) const;

  /// What the next iteration's call is taken to cost.
  double next_call_usd() const;

  /// For EndReason::budget: which one.
  BudgetName used_up(double elapsed_s) const;

  /// The program with the same fingerprint, if there is one.
  std::optional<ProgramId> program_like(const Source& source) const;

  /// The earlier program that an open ticket's child repeats, if it does.
  std::optional<ProgramId> repeated_program(TicketId ticket) const;
  /// For Selection::kin of a ticket that asks a model, EngineOptions::kin of each.
  std::vector<ProgramId> kin_of(const TicketOpened& opened) const;
  /// The earlier program that was compiled to the same bytes and shares its verdict. Empty if that one was
  /// rejected and this evaluation accepts: a rejection may have been the machine's, but for one that was the
  /// best and did not hold when it was confirmed.
  std::optional<ProgramId> program_compiled_to(const Evaluation& evaluation) const;

  /// Gives an open ticket's evaluation a new attempt number: its last one ended in an Error.
  void take_new_attempt(TicketId ticket);

  /// What became of the values of knobs; empty without EngineOptions::knobs.
  const KnobMemory& knobs() const { return knobs_; }

  /// Canonical text of counts, arms, lineage, archipelago and what is known of knobs. Equal states have equal
  /// texts, byte for byte.
  std::string to_text() const;

 private:
  /// A duel or a repair that waits for its ticket.
  struct FollowUp {
    IslandId island;
    ProgramId program;                   ///< the challenger, or the rejected child
    std::optional<ProgramId> incumbent;  ///< set for a duel
    bool is_tuning = false;              ///< of the program, which was accepted
    /// Of both, so that they stay in memory.
    std::array<IndividualPtr, 2> held{};

    bool is(IslandId on, ProgramId what, std::optional<ProgramId> against) const {
      return island == on && program == what && incumbent == against;
    }
  };

  SearchState(EngineOptions options, const Grid& grid);

  // One for each event.
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
  /// What tickets of one kind (an edit, a rewrite, ...) for one model have cost, all attempts included.
  struct KnownCalls {
    double dearest_usd = 0;
    bool answered = false;  ///< the model, and not only with failures
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

  // What requests bring along of the run so far.
  void note_latest(const IndividualPtr& individual);
  PastPrograms past() const;

  // What is known of knobs.
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
  /// What the end of a run measures: a program, alone or beside another one.
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

  /// The policies of the options as they were given: those of a session that recorded no others.
  struct OwnPolicies {
    std::shared_ptr<const Sampler> sampler;
    std::shared_ptr<const Operators> operators;
    bool ends_when_exhausted = false;
  };

  EngineOptions options_;
  OwnPolicies own_;
  const Journal* journal_ = nullptr;
  std::uint64_t position_ = 0;  ///< of the last event that was applied
  bool checks_settings_ = true;
  Archipelago archipelago_;
  Lineage lineage_;
  Counts counts_;
  ArmRecord arms_;
  std::map<RefusalCode, std::uint64_t> refusals_;
  Spending spending_;                                                   ///< what counts
  std::map<std::pair<std::string, Operator>, KnownCalls> known_calls_;  ///< of what counts, by their tickets
  std::uint64_t money_marks_ = 0;
  Budgets budgets_;
  double elapsed_s_ = 0;
  double confirming_s_ = 0;
  std::map<std::string, std::string> session_settings_;
  std::optional<Error> session_error_;
  std::uint64_t migrations_ = 0;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t committed_ = 0;  ///< tickets that took effect; in deterministic mode the next one to do so
  TicketId last_committed_;
  bool seed_passed_ = false;   ///< or was given back: what counts is that not every seed was rejected
  unsigned idle_ = 0;          ///< iterations in a row that brought nothing new
  bool nothing_left_ = false;  ///< and among them a refusal `exhausted`
  bool finished_ = false;      ///< a refusal `finished` came in this session

  std::map<TicketId, OpenTicket> open_;
  std::set<TicketId>
      foregone_;  ///< open tickets whose proposal was a refusal or a repeat: no evaluator needed
  std::deque<FollowUp> follow_ups_;
  KnobMemory knobs_;
  std::uint64_t tunings_queued_ = 0;  ///< all of them, and not only those that wait
  std::map<ProgramId, ProgramRecord> programs_;
  /// An accepted program in its cell. Whoever is measured again stands there twice; what its record does not
  /// say any more does not count.
  struct Standing {
    double low = 0;
    ProgramId program;

    /// The order of a heap: the highest low end is its front, of equals the older.
    friend bool operator<(const Standing& a, const Standing& b) {
      return std::tie(a.low, b.program) < std::tie(b.low, a.program);
    }
  };
  std::unordered_map<Cell, std::vector<Standing>> standings_;                ///< heaps
  std::unordered_map<ProgramId, std::vector<ProgramId>> accepted_children_;  ///< ascending
  std::deque<IndividualPtr> kin_held_;         ///< of late requests, as they were read from the journal
  std::map<ProgramId, IndividualPtr> latest_;  ///< the latest EngineOptions::history programs, as they stand
  std::map<std::pair<Stage, RejectionCode>, std::uint64_t> failures_;
  std::unordered_map<Digest, ProgramId> by_fingerprint_;
  mutable std::optional<std::pair<Source, Digest>> last_fingerprint_;
  std::unordered_map<Digest, ProgramId> by_binary_;  ///< Report::binary
  std::map<ProgramId, std::uint32_t> attempts_;      ///< the latest of each program that had more than one
  std::map<ProgramId, unsigned> repairs_;            ///< how many repairs in a row led to a rejected program
  std::map<std::pair<ProgramId, ProgramId>, unsigned> duels_;
  std::map<ProgramId, Confirmation> confirmations_;
  /// The best by what the end of a run measured.
  struct Leader {
    IndividualPtr individual;
    std::optional<Measurement> fitness;  ///< as it was measured there; none if an Error ended that
    TicketId looked_at;                  ///< by that ticket
  };
  std::optional<Leader> leader_;
  std::set<ProgramId> looked_at_;  ///< at an end of the run
  /// Of these since a program was accepted: beside the leader, rejected, or ended by an Error. The first look
  /// and the winner's do not count.
  std::uint64_t extra_looks_ = 0;
  std::vector<IndividualPtr> demoted_;
  ImprovementHistory history_;
};

/// The state that a journal's events lead to, those at position `until` and later left out. It reads from no
/// journal: see SearchState::read_from.
Result<SearchState> replay(const Journal& journal, EngineOptions options,
                           std::uint64_t until = std::numeric_limits<std::uint64_t>::max());

/// The same by the settings that stand in the journal, for whoever has not the options of the program that
/// began the run. What no journal holds is the default: EngineOptions::describe (Grid::absent_features says
/// if an axis lacks its feature), migration, EngineOptions::knobs (so that `tunings` count as iterations),
/// and sampler and operators, which only matter for what comes next. `complete` may fill in what it knows
/// from the settings.
Result<SearchState> replay_as_recorded(
    const Journal& journal,
    const std::function<void(const std::map<std::string, std::string>& settings, EngineOptions& options)>&
        complete = {});

}  // namespace kernelsmith

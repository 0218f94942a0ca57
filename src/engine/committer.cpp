#include "committer.hpp"

#include <algorithm>
#include <iterator>

#include "settings.hpp"

namespace kernelsmith {
namespace {

std::string where(TicketId ticket) { return "ticket " + std::to_string(ticket.value); }

}  // namespace

Result<std::unique_ptr<Committer>> Committer::begin(std::unique_ptr<Journal> journal, EngineOptions options) {
  if (auto ok = check_budgets(options); !ok) return ok.error();
  options = with_defaults(std::move(options));
  auto state = replay(*journal, options);
  if (!state) return state.error();
  auto settings = settings_of(options, state->archipelago().grid());
  const auto notices = notices_of_changes(state->session_settings(), options.recorded);
  settings.insert(options.recorded.begin(), options.recorded.end());
  const SessionStarted session{KERNELSMITH_VERSION, by_name(options.budgets), settings, state->elapsed_s()};
  std::unique_ptr<Committer> committer(
      new Committer(std::move(journal), std::move(options), std::move(*state)));
  const MutexLock lock(committer->mutex_);
  const Event event = session;
  if (auto recorded = committer->record({&event, 1}); !recorded) return recorded.error();
  for (const Notice& notice : notices)
    if (committer->options_.observer) committer->options_.observer->on_notice(notice);
  return committer;
}

Committer::Committer(std::unique_ptr<Journal> journal, EngineOptions options, SearchState state)
    : options_(std::move(options)),
      journal_(std::move(journal)),
      state_(std::move(state)),
      session_began_s_(options_.clock_s()),
      began_s_(session_began_s_),
      before_s_(state_.elapsed_s()) {
  state_.read_from(journal_.get());
  for (const auto& [id, ticket] : state_.open()) {
    if (!ticket.answered()) to_issue_.insert(id);
  }
  left_open_ = to_issue_;
}

Result<std::optional<Ticket>> Committer::ask() {
  const Turn turn(*this);
  Commits none;
  if (auto ok = settle(none); !ok) return ok.error();
  if (to_issue_.empty()) {
    auto opening = state_.next_opening(elapsed_s());
    if (!opening) return std::optional<Ticket>{};
    const Event event = std::move(*opening);
    if (auto recorded = record({&event, 1}); !recorded) return recorded.error();
  }
  const auto id = *to_issue_.begin();
  to_issue_.erase(to_issue_.begin());
  return ticket_of(state_.open().at(id));
}

Result<Committer::Commits> Committer::propose(TicketId ticket, Proposal proposal) {
  const Turn turn(*this);
  if (auto ok = check_told(ticket); !ok) return ok.error();
  const auto& open = state_.open().at(ticket);
  if (open.challenger || open.proposal) {
    return fail(ErrorCode::invalid_argument, "this ticket takes an evaluation, not a proposal",
                where(ticket));
  }
  if (const Child* child = proposal.child()) {
    if (auto ok = check_child(*child); !ok) return ok.error();
  }
  const Event event = ProposalArrived{ticket, std::move(proposal)};
  return record({&event, 1});
}

Result<Committer::Commits> Committer::charge(TicketId ticket, Cost cost, bool goes_on) {
  const Turn turn(*this);
  if (auto ok = check_told(ticket); !ok) return ok.error();
  const Event event = CallFailed{ticket, std::move(cost), goes_on, elapsed_s()};
  return record({&event, 1});
}

Result<Committer::Commits> Committer::end_call(TicketId ticket) {
  const Turn turn(*this);
  const auto it = state_.open().find(ticket);
  if (it == state_.open().end() || it->second.answered() || it->second.proposal) return Commits{};
  if (!is_call(it->second.opened) || it->second.told_of_failure) return Commits{};
  const Event event = CallFailed{ticket, {}, false, elapsed_s()};
  return record({&event, 1});
}

Status Committer::fail_session(const Error& error) {
  const Turn turn(*this);
  const Event event = SessionFailed{error, elapsed_s()};
  if (auto recorded = record({&event, 1}); !recorded) return recorded.error();
  return {};
}

bool Committer::affords_attempt() const {
  const Turn turn(*this);
  return state_.room_for_attempt();
}

bool Committer::affords_call(TicketId ticket) const {
  const Turn turn(*this);
  const auto it = state_.open().find(ticket);
  if (it == state_.open().end() || it->second.proposal || !is_call(it->second.opened)) return true;
  return !left_open_.contains(ticket) || state_.room_for_attempt();
}

Result<Committer::OpenedTrial> Committer::open_trial(TicketId within, Trial trial) {
  const Turn turn(*this);
  if (auto ok = check_outer(within); !ok) return ok.error();
  TicketOpened opened;
  opened.ticket = state_.next_ticket();
  opened.island = state_.open().at(within).opened.island;
  opened.within = within;
  std::vector<Event> events;
  if (const auto* program = std::get_if<ProgramId>(&trial)) {
    if (auto ok = check_remeasured(*program); !ok) return ok.error();
    opened.remeasurement = Remeasurement::confirm;
    opened.parent = *program;
    events.emplace_back(opened);
  } else {
    Child& child = std::get<Child>(trial);
    if (auto ok = check_child(child); !ok) return ok.error();
    if (const auto known = state_.program_like(child.source)) {
      auto individual = state_.individual(*known);
      if (!individual) return individual.error();
      return OpenedTrial{{}, Tried{(*individual)->program, (*individual)->evaluation, true}, {}};
    }
    events.emplace_back(opened);
    events.emplace_back(ProposalArrived{opened.ticket, Proposal{std::move(child), {}, {}}});
  }
  if (!state_.room_for_trial(elapsed_s()))
    return fail(ErrorCode::over_budget, "the run's budgets leave no evaluation for a trial", where(within),
                "one evaluation is reserved for the answer itself");
  auto commits = record(events);
  if (!commits) return commits.error();
  to_issue_.erase(opened.ticket);
  return OpenedTrial{ticket_of(state_.open().at(opened.ticket)), {}, std::move(*commits)};
}

Result<Committer::Commits> Committer::evaluate(TicketId ticket, Evaluation evaluation) {
  const Turn turn(*this);
  if (auto ok = check_told(ticket); !ok) return ok.error();
  const auto& open = state_.open().at(ticket);
  if (!open.challenger && !open.child()) {
    return fail(ErrorCode::invalid_argument, "this ticket takes a child with its evaluation", where(ticket));
  }
  return record_arrival(ticket, std::move(evaluation));
}

Result<Committer::Commits> Committer::tell(TicketId ticket, Child child, Evaluation evaluation) {
  const Turn turn(*this);
  if (auto ok = check_told(ticket); !ok) return ok.error();
  const auto& open = state_.open().at(ticket);
  if (open.challenger || (open.child() && open.child()->source != child.source)) {
    return fail(ErrorCode::invalid_argument, "this ticket is about a program that already exists",
                where(ticket), "tell the evaluation of Evaluate::child or Remeasure::challenger");
  }
  if (open.child()) return record_arrival(ticket, std::move(evaluation));
  if (auto ok = check_child(child); !ok) return ok.error();
  const auto earlier = state_.program_like(child.source);
  EvaluationArrived told = arrival(ticket, std::move(evaluation));
  if (earlier) {
    told.program = *earlier;
    told.source = EvaluationSource::cached;
  }
  std::vector<Event> events;
  events.emplace_back(ProposalArrived{ticket, Proposal{std::move(child), {}, {}}});
  events.emplace_back(std::move(told));
  if (auto ok = fill_in(events.back()); !ok) return ok.error();
  return record(events);
}

Result<Committer::Commits> Committer::give_back(TicketId ticket, Error error) {
  const Turn turn(*this);
  if (auto ok = check_told(ticket); !ok) return ok.error();
  const Event event = TicketClosed{ticket, std::move(error), elapsed_s()};
  return record({&event, 1});
}

std::optional<EvaluationJob> Committer::job(TicketId ticket, bool again) {
  const Turn turn(*this);
  const auto it = state_.open().find(ticket);
  if (it == state_.open().end() || it->second.answered()) return std::nullopt;
  const OpenTicket& open = it->second;
  const Child* child = open.child();
  if (!open.challenger && !child) return std::nullopt;
  if (again) state_.take_new_attempt(ticket);
  EvaluationJob job;
  job.run = options_.run;
  job.task = options_.task;
  job.attempt = open.attempt;
  job.candidate = child ? ProgramId{ticket.value} : open.challenger->program->id;
  job.source = child ? child->source : open.challenger->program->source;
  job.remeasurement = open.opened.remeasurement;
  if (open.incumbent) job.rival = Rival{open.incumbent->program->id, open.incumbent->program->source};
  return job;
}

Result<Committer::Commits> Committer::answer_repeat(TicketId ticket) {
  const Turn turn(*this);
  if (!check_told(ticket)) return Commits{};
  const auto earlier = state_.repeated_program(ticket);
  if (!earlier) return Commits{};
  Event event = EvaluationArrived{ticket, *earlier, 0, EvaluationSource::cached, Rejection{}, elapsed_s()};
  if (auto ok = fill_in(event); !ok) return ok.error();
  return record({&event, 1});
}

void Committer::put_back(TicketId ticket) {
  const Turn turn(*this);
  const auto it = state_.open().find(ticket);
  if (it == state_.open().end() || it->second.answered()) return;
  to_issue_.insert(ticket);
  left_open_.insert(ticket);
}

Result<Committer::Commits> Committer::repeat(const Event& recorded, std::optional<Evaluation> measured) {
  const Turn turn(*this);
  Event event = recorded;
  if (auto* session = std::get_if<SessionStarted>(&event))
    event = SessionStarted{KERNELSMITH_VERSION, session->budgets, settings_with(session->settings),
                           state_.elapsed_s()};
  if (auto* arrived = std::get_if<EvaluationArrived>(&event)) {
    if (auto ok = fill_in(event); !ok) return ok.error();
    if (measured) {
      arrived->evaluation = std::move(*measured);
      arrived->attempt = state_.open().at(arrived->ticket).attempt;
    }
  }
  if (auto ok = journal_->append({&event, 1}); !ok) return ok.error();
  Commits commits;
  if (auto ok = apply(event, commits); !ok) return ok.error();
  before_s_ = state_.elapsed_s();
  began_s_ = options_.clock_s();
  return commits;
}

Status Committer::enter(const Budgets& budgets, const std::map<std::string, std::string>& recorded) {
  const Turn turn(*this);
  SessionStarted session{KERNELSMITH_VERSION, by_name(budgets), settings_with(recorded), state_.elapsed_s()};
  if (budgets == state_.budgets() && session.settings == state_.session_settings()) return {};
  const Event event = std::move(session);
  Commits none;
  if (auto ok = journal_->append({&event, 1}); !ok) return ok;
  return apply(event, none);
}

/// This run's own settings, with the policies of a recording's session.
std::map<std::string, std::string> Committer::settings_with(
    const std::map<std::string, std::string>& recorded) const {
  auto settings = state_.session_settings();
  for (const char* name : kPolicySettings)
    if (const auto found = recorded.find(name); found != recorded.end() && options_.recorded.contains(name))
      settings[name] = found->second;
  return settings;
}

Status Committer::renew(const Budgets& budgets) {
  const Turn turn(*this);
  const auto settings = settings_with(options_.recorded);
  if (budgets == state_.budgets() && settings == state_.session_settings()) return {};
  const Event event = SessionStarted{KERNELSMITH_VERSION, by_name(budgets), settings, state_.elapsed_s()};
  if (auto recorded = record({&event, 1}); !recorded) return recorded.error();
  return {};
}

Result<Place> Committer::place_in(const Journal& recording) const {
  const Turn turn(*this);
  return kernelsmith::place_in(recording, *journal_);
}

Status Committer::check_journal() const {
  const Turn turn(*this);
  return journal_->check();
}

void Committer::notify(const Notice& notice) {
  const MutexLock lock(mutex_);
  if (options_.observer) options_.observer->on_notice(notice);
}

std::optional<double> Committer::seconds_left() const {
  const Turn turn(*this);
  const auto& limit = state_.budgets().wall_s;
  return limit ? std::optional(*limit - (elapsed_s() - state_.confirming_s())) : std::nullopt;
}

Outcome Committer::outcome() const {
  const Turn turn(*this);
  Outcome outcome;
  outcome.reason = state_.end_reason(elapsed_s());
  if (const IndividualPtr best = state_.best()) outcome.best = state_.shown(best);
  if (outcome.reason == EndReason::budget) outcome.budget = state_.used_up(elapsed_s());
  if (outcome.budget == BudgetName::money) outcome.next_usd = state_.next_call_usd();
  outcome.counts = state_.counts();
  outcome.expected_gain = state_.expected_gain();
  outcome.spending = state_.spending();
  outcome.elapsed_s = elapsed_s();
  outcome.confirming_s = state_.confirming_s();
  outcome.refusals = state_.refusals();
  outcome.session_s = options_.clock_s() - session_began_s_;
  outcome.engine_s = std::chrono::duration<double>(busy_).count();
  if (const Evaluation* confirmation = state_.confirmation_of_best()) outcome.confirmation = *confirmation;
  if (outcome.reason == EndReason::refused) {
    const auto first = state_.individual(state_.programs().begin()->first);
    if (!first) {
      outcome.error = first.error();
      return outcome;
    }
    const Individual& seed = **first;
    const Rejection& why = *seed.evaluation.rejection();
    outcome.error =
        fail(ErrorCode::refused,
             "the seed was rejected at " + std::string(name_of(why.stage)) + " (" +
                 std::string(name_of(why.code)) + "): " + why.diagnostics,
             seed.program->source.files().empty() ? "seed" : seed.program->source.files().front().path,
             why.code == RejectionCode::worker_lost ? "find out why the workers end, then begin a new run"
             : options_.has_reference ? "correct the seed, or leave it out to begin from the reference"
                                      : "correct the seed, or what evaluates it");
  }
  return outcome;
}

void Committer::inspect(const std::function<void(const SearchState&)>& look) const {
  const Turn turn(*this);
  look(state_);
}

double Committer::elapsed_s() const { return before_s_ + (options_.clock_s() - began_s_); }

Result<Committer::Commits> Committer::record(std::span<const Event> events) {
  if (auto ok = journal_->append(events); !ok) return ok.error();
  Commits commits;
  for (const auto& event : events) {
    if (auto ok = apply(event, commits); !ok) return ok.error();
  }
  if (auto ok = settle(commits); !ok) return ok.error();
  return commits;
}

Status Committer::settle(Commits& commits) {
  while (auto event = state_.due(elapsed_s())) {
    if (auto ok = fill_in(*event); !ok) return ok;
    if (auto ok = journal_->append({&*event, 1}); !ok) return ok;
    if (auto ok = apply(*event, commits); !ok) return ok;
  }
  return {};
}

/// Fills in the answer to a repeat: the earlier program's evaluation.
Status Committer::fill_in(Event& event) const {
  auto* arrived = std::get_if<EvaluationArrived>(&event);
  if (!arrived || arrived->source == EvaluationSource::evaluated) return {};
  auto earlier = state_.individual(arrived->program);
  if (!earlier) return earlier.error();
  arrived->evaluation = (*earlier)->evaluation;
  return {};
}

Status Committer::apply(const Event& event, Commits& commits) {
  const bool had_none = state_.counts().accepted + state_.counts().demoted == 0;
  auto applied = state_.apply(event);
  if (!applied) return applied.error();
  for (Commit& commit : *applied)
    if (auto ok = state_.complete(commit); !ok) return ok;
  if (const auto* opened = std::get_if<TicketOpened>(&event)) to_issue_.insert(opened->ticket);
  if (const auto* arrived = std::get_if<EvaluationArrived>(&event)) to_issue_.erase(arrived->ticket);
  if (const auto* closed = std::get_if<TicketClosed>(&event)) to_issue_.erase(closed->ticket);
  const auto first = std::ranges::find_if(*applied, [](const Commit& commit) {
    return commit.kind == CommitKind::evaluated && commit.individual->evaluation.accepted();
  });
  const IndividualPtr first_accepted = had_none && first != applied->end() ? first->individual : nullptr;
  std::ranges::move(*applied, std::back_inserter(commits));
  if (!options_.observer) return {};
  options_.observer->on_event(event);
  if (first_accepted)
    for (const Notice& notice : notices_of_axes(options_.axes, *first_accepted->evaluation.metrics()))
      options_.observer->on_notice(notice);
  const auto* crossed = std::get_if<PeriodCrossed>(&event);
  if (crossed && crossed->policy == "money" && !state_.money_mark_is_due())
    options_.observer->on_notice(money_warning(state_));
  return {};
}

Status Committer::check_told(TicketId ticket) const {
  if (ticket >= state_.next_ticket()) {
    return fail(ErrorCode::unknown_ticket, "this run never opened such a ticket", where(ticket));
  }
  const auto it = state_.open().find(ticket);
  if (it == state_.open().end() || it->second.answered()) {
    return fail(ErrorCode::already_told, "this ticket was answered before", where(ticket));
  }
  return {};
}

Status Committer::check_child(const Child& child) const {
  if (child.source.empty()) return fail(ErrorCode::invalid_argument, "the child has no file");
  for (const auto parent : child.parents) {
    if (!state_.lineage().contains(parent)) {
      return fail(ErrorCode::invalid_argument, "the child names a parent that this run does not know",
                  "program " + std::to_string(parent.value));
    }
  }
  return {};
}

Status Committer::check_outer(TicketId ticket) const {
  if (options_.deterministic)
    return fail(
        ErrorCode::unsupported,
        "a deterministic run takes no trials: what is sampled would depend on when they are asked for",
        where(ticket), "leave out --deterministic");
  if (auto ok = check_told(ticket); !ok) return ok;
  const OpenTicket& open = state_.open().at(ticket);
  if (!is_call(open.opened) || open.proposal)
    return fail(ErrorCode::invalid_argument, "this ticket has no proposer at work", where(ticket));
  return {};
}

/// Fails if the program is being measured again, because a duel would then be settled against an unknown
/// measurement.
Status Committer::check_remeasured(ProgramId program) const {
  const std::string name = "program " + std::to_string(program.value);
  const auto known = state_.programs().find(program);
  if (known == state_.programs().end() || !known->second.accepted)
    return fail(ErrorCode::not_found, "this run has no such accepted program", name);
  for (const auto& [id, open] : state_.open())
    for (const IndividualPtr& measured : {open.challenger, open.incumbent})
      if (measured && measured->program->id == program)
        return fail(ErrorCode::busy, "the program is already being measured again", name,
                    "ask again in a moment");
  return {};
}

EvaluationArrived Committer::arrival(TicketId ticket, Evaluation evaluation) const {
  const auto& open = state_.open().at(ticket);
  const ProgramId program = open.challenger ? open.challenger->program->id : ProgramId{ticket.value};
  const auto same = open.challenger ? std::nullopt : state_.program_compiled_to(evaluation);
  if (same) return {ticket, *same, 0, EvaluationSource::same_binary, std::move(evaluation), elapsed_s()};
  return {ticket, program, open.attempt, EvaluationSource::evaluated, std::move(evaluation), elapsed_s()};
}

Result<Committer::Commits> Committer::record_arrival(TicketId ticket, Evaluation evaluation) {
  Event event = arrival(ticket, std::move(evaluation));
  if (auto ok = fill_in(event); !ok) return ok.error();
  return record({&event, 1});
}

Ticket Committer::ticket_of(const OpenTicket& open) const {
  Ticket ticket{open.opened.ticket, open.opened.island, Propose{}};
  if (open.challenger) {
    ticket.work = Remeasure{*open.opened.remeasurement, open.challenger, open.incumbent};
  } else if (open.child()) {
    ticket.work = Evaluate{*open.child()};
  } else {
    ticket.work = Propose{*open.opened.op, open.opened.model, open.selection, open.tried, open.trials};
  }
  return ticket;
}

}  // namespace kernelsmith

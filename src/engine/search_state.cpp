// Applies events to open tickets. commit.cpp applies tickets to the archive, and next_ticket.cpp opens
// tickets.

#include <algorithm>
#include <type_traits>

#include <kernelsmith/engine/search_state.hpp>

#include "programs.hpp"
#include "settings.hpp"

namespace kernelsmith {
namespace {

Error corrupt(TicketId ticket, std::string message) {
  return fail(ErrorCode::corrupt, "the journal contradicts itself: " + std::move(message),
              "ticket " + std::to_string(ticket.value));
}

/// This many kin are kept in memory after they were read, because successive requests need the kin of the
/// leaders.
constexpr std::size_t kMostKinHeld = 256;

std::string where(ProgramId program) { return "program " + std::to_string(program.value); }

Result<Event> event_at(const Journal& journal, std::uint64_t position) {
  std::optional<Event> found;
  const Status read = journal.replay(position - 1, [&](std::uint64_t, const Event& event) -> Status {
    found = event;
    return fail(ErrorCode::cancelled, "one is enough");
  });
  if (found) return std::move(*found);
  if (!read) return read.error();
  return fail(ErrorCode::corrupt, "an event is missing", "event " + std::to_string(position));
}

std::string text_of(const Counts& counts) {
  const auto item = [](const char* name, std::uint64_t number) {
    return std::string(name) + std::to_string(number);
  };
  return item("iterations ", counts.iterations) + item(" evaluations ", counts.evaluations) +
         item(" accepted ", counts.accepted) + item(" rejected ", counts.rejected) +
         item(" repeated ", counts.repeated) + item(" same_binary ", counts.same_binary) +
         item(" refused ", counts.refused) + item(" repairs ", counts.repairs) +
         item(" tunings ", counts.tunings) + item(" remeasured ", counts.remeasured) +
         item(" given_back ", counts.given_back) + item(" demoted ", counts.demoted) + "\n";
}

}  // namespace

Result<SearchState> SearchState::create(EngineOptions options) {
  if (auto ok = check_options(options); !ok) return ok.error();
  auto grid = Grid::create(options.axes);
  if (!grid) return grid.error();
  return SearchState(with_defaults(std::move(options)), *grid);
}

SearchState::SearchState(EngineOptions options, const Grid& grid)
    : options_(std::move(options)),
      own_{options_.sampler, options_.operators, options_.ends_when_exhausted},
      archipelago_(grid, options_.topology, options_.island, options_.objectives),
      budgets_(options_.budgets) {}

Result<SearchState::Commits> SearchState::apply(const Event& event) {
  ++position_;
  std::optional<TicketId> answered;
  auto taken = std::visit(
      [&](const auto& one) -> Status {
        using E = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<E, SessionStarted>) return begin_session(one);
        if constexpr (std::is_same_v<E, TicketOpened>) return open_ticket(one);
        if constexpr (std::is_same_v<E, ProposalArrived>) return take_proposal(one);
        if constexpr (std::is_same_v<E, CallFailed>) return take_failure(one);
        if constexpr (std::is_same_v<E, PeriodCrossed>) return cross_period(one);
        if constexpr (std::is_same_v<E, SessionFailed>) {
          session_error_ = one.error;
          elapsed_s_ = std::max(elapsed_s_, one.elapsed_s);
          return {};
        }
        if constexpr (std::is_same_v<E, EvaluationArrived> || std::is_same_v<E, TicketClosed>) {
          answered = one.ticket;
          return take_answer(one);
        }
      },
      event);
  if (!taken) return taken.error();
  return commit_what_may(answered);
}

Status SearchState::check_settings(const SessionStarted& session) const {
  auto settings = settings_of(options_, archipelago_.grid());
  // The default objective is not recorded, nor are tunings if a run has none.
  if (session.settings.contains(kObjectivesSetting))
    settings.emplace(kObjectivesSetting, options_.objectives.to_text());
  if (session.settings.contains(kTuningsSetting))
    settings.emplace(kTuningsSetting, std::to_string(options_.tunings));
  for (const auto& [name, value] : settings) {
    const auto recorded = session.settings.find(name);
    const std::string before = recorded == session.settings.end() ? "(none)" : recorded->second;
    if (before != value) {
      return fail(ErrorCode::invalid_argument,
                  "this run was begun with \"" + before + "\", which cannot become \"" + value + "\"", name,
                  "begin a new run; docs/formats.md says what can change within one (run.yaml)");
    }
  }
  return {};
}

Status SearchState::begin_session(const SessionStarted& session) {
  if (checks_settings_)
    if (Status same = check_settings(session); !same) return same;
  options_.sampler = own_.sampler;
  options_.operators = own_.operators;
  options_.ends_when_exhausted = own_.ends_when_exhausted;
  if (options_.take_policies) options_.take_policies(session.settings, options_);
  session_settings_ = session.settings;
  session_error_.reset();
  finished_ = false;
  spending_.add_interrupted(calls_under_way().size());
  for (auto& [id, ticket] : open_) ticket.told_of_failure = false;
  const auto usd_before = budgets_.usd;
  budgets_ = budgets_from(session.budgets);
  if (budgets_.usd != usd_before) money_marks_ = marks_passed();
  elapsed_s_ = std::max(elapsed_s_, session.elapsed_s);
  return {};
}

/// A session that ends in an orderly way records its interrupted calls.
std::vector<TicketId> SearchState::calls_under_way() const {
  std::vector<TicketId> calls;
  for (const auto& [id, ticket] : open_)
    if (is_call(ticket.opened) && !ticket.proposal && !ticket.told_of_failure) calls.push_back(id);
  return calls;
}

Status SearchState::open_ticket(const TicketOpened& opened) {
  if (opened.ticket.value != next_ticket_) return corrupt(opened.ticket, "it was opened out of order");
  if (opened.island.value >= archipelago_.size()) return corrupt(opened.ticket, "there is no such island");

  OpenTicket ticket;
  ticket.opened = opened;
  if (opened.within) {
    auto outer = unanswered(*opened.within);
    if (!outer) return outer.error();
    if (!is_call((*outer)->opened) || (*outer)->proposal)
      return corrupt(opened.ticket, "it is within a ticket that has no proposer at work");
    ++(*outer)->trials;
  }
  const std::vector<ProgramId> kin = kin_of(opened);
  const auto find_all = [&](const std::vector<ProgramId>& ids, std::vector<IndividualPtr>& found) -> Status {
    for (const auto id : ids) {
      const bool is_read = &ids == &kin && programs_.at(id).individual.expired();
      auto one = individual(id);
      if (!one) return one.error();
      if (is_read) kin_held_.push_back(*one);
      if (kin_held_.size() > kMostKinHeld) kin_held_.pop_front();
      found.push_back(std::move(*one));
    }
    return {};
  };
  if (opened.parent) {
    auto parent = individual(*opened.parent);
    if (!parent) return parent.error();
    (opened.remeasurement ? ticket.challenger : ticket.selection.parent) = std::move(*parent);
  }
  if (opened.incumbent) {
    auto incumbent = individual(*opened.incumbent);
    if (!incumbent) return incumbent.error();
    ticket.incumbent = std::move(*incumbent);
  }
  if (auto ok = find_all(opened.top, ticket.selection.top); !ok) return ok;
  if (auto ok = find_all(opened.inspirations, ticket.selection.inspirations); !ok) return ok;
  if (auto ok = find_all(opened.failures, ticket.selection.failures); !ok) return ok;
  if (auto ok = find_all(kin, ticket.selection.kin); !ok) return ok;
  if (is_call(opened)) ticket.selection.past = past();

  if (opened.remeasurement) {
    const bool duel = *opened.remeasurement == Remeasurement::duel;
    if (!ticket.challenger || (duel && !ticket.incumbent)) {
      return corrupt(opened.ticket, "it does not name what to measure again");
    }
    ticket.kind = duel ? TicketKind::duel : TicketKind::confirm;
    ticket.attempt = ++attempts_[*opened.parent];
  } else {
    ticket.kind = opened.within ? TicketKind::trial : opened.op ? TicketKind::iteration : TicketKind::seed;
  }
  if (opened.parent) {
    const auto it = std::ranges::find_if(follow_ups_, [&](const FollowUp& one) {
      return one.is(opened.island, *opened.parent, opened.incumbent);
    });
    const bool follows =
        ticket.kind == TicketKind::duel || opened.op == Operator::repair || opened.op == Operator::tune;
    if (it != follow_ups_.end() && follows) {
      if (ticket.kind == TicketKind::iteration)
        ticket.kind = it->is_tuning ? TicketKind::tuning : TicketKind::repair;
      follow_ups_.erase(it);
    }
  }
  if (opened.op == Operator::tune && ticket.selection.parent) look_up_knobs(ticket);
  if (is_call(opened)) ticket.forecast_usd = forecast_usd(opened);
  if (ticket.kind == TicketKind::iteration) archipelago_.visit(opened.island, opened.parent);
  ++next_ticket_;
  open_.emplace(opened.ticket, std::move(ticket));
  return {};
}

Status SearchState::take_proposal(const ProposalArrived& arrived) {
  auto ticket = unanswered(arrived.ticket);
  if (!ticket) return ticket.error();
  if ((*ticket)->challenger) return corrupt(arrived.ticket, "a re-measurement got a proposal");
  if ((*ticket)->proposal) return corrupt(arrived.ticket, "two proposals arrived");
  if (arrived.proposal.child() && arrived.proposal.child()->source.empty())
    return corrupt(arrived.ticket, "a child without files arrived");
  (*ticket)->proposal = arrived.proposal;
  (*ticket)->proposed_at = position_;
  (*ticket)->proposal->reply.reset();  // it is in the journal, and the search does not need it
  charge(**ticket, arrived.proposal.cost);
  if (const Child* child = (*ticket)->child()) {
    (*ticket)->fingerprint = fingerprint_of(child->source);
    (*ticket)->knobs = knobs_of(child->source);
  }
  if (arrived.proposal.refusal() || repeated_program(arrived.ticket)) foregone_.insert(arrived.ticket);
  return {};
}

Status SearchState::take_failure(const CallFailed& failed) {
  auto ticket = unanswered(failed.ticket);
  if (!ticket) return ticket.error();
  if ((*ticket)->challenger || (*ticket)->proposal) return corrupt(failed.ticket, "it asked for no call");
  elapsed_s_ = std::max(elapsed_s_, failed.elapsed_s);
  (*ticket)->told_of_failure = !failed.goes_on;
  if (failed.cost != Cost{}) charge(**ticket, failed.cost);
  return {};
}

Status SearchState::take_answer(const EvaluationArrived& arrived) {
  auto ticket = unanswered(arrived.ticket);
  if (!ticket) return ticket.error();
  if (!(*ticket)->challenger && !(*ticket)->child()) {
    return corrupt(arrived.ticket, "an evaluation arrived before its child");
  }
  if (arrived.source == EvaluationSource::evaluated && arrived.attempt > 0) {
    // Attempts that ended in an error are not in the journal. A resumed run must not use the number of one
    // again.
    std::uint32_t& latest = attempts_[arrived.program];
    latest = std::max(latest, arrived.attempt);
  }
  (*ticket)->answer = arrived;
  (*ticket)->answered_at = position_;
  foregone_.erase(arrived.ticket);
  return {};
}

Status SearchState::take_answer(const TicketClosed& closed) {
  auto ticket = unanswered(closed.ticket);
  if (!ticket) return ticket.error();
  const bool refused = (*ticket)->proposal && (*ticket)->proposal->refusal();
  if (!closed.error && !refused) return corrupt(closed.ticket, "it was closed for no reason");
  (*ticket)->answer = closed;
  foregone_.erase(closed.ticket);
  return {};
}

Status SearchState::cross_period(const PeriodCrossed& crossed) {
  if (crossed.policy == "money" && crossed.epoch == money_marks_ + 1) {
    money_marks_ = crossed.epoch;
    return {};
  }
  if (crossed.policy != "migration" || crossed.epoch != migrations_ + 1) {
    return corrupt(crossed.after, "period " + std::to_string(crossed.epoch) + " of " + crossed.policy +
                                      " was crossed out of order");
  }
  migrations_ = crossed.epoch;
  archipelago_.migrate(*options_.migration, options_.seed, crossed.epoch);
  return {};
}

/// A program that won at the end of the run stays the best until a later program is better beyond the noise.
IndividualPtr SearchState::best() const {
  IndividualPtr best = archipelago_.best();
  if (!best || !leader_ || options_.objectives.several()) return best;
  if (looked_at_.contains(best->program->id)) return leader_->individual;
  if (!leader_->fitness) return best;
  const bool is_later = best->program->id.value > leader_->looked_at.value;
  const Measurement& fitness = best->evaluation.metrics()->fitness();
  return is_later && compare(fitness, *leader_->fitness) == Comparison::better ? best : leader_->individual;
}

const Evaluation* SearchState::confirmation_of_best() const {
  const IndividualPtr found = best();
  const auto known = found ? confirmations_.find(found->program->id) : confirmations_.end();
  if (known == confirmations_.end() || !known->second.is_figure()) return nullptr;
  return &*known->second.evaluation;
}

IndividualPtr SearchState::shown(IndividualPtr one) const {
  const auto found = confirmations_.find(one->program->id);
  if (found == confirmations_.end() || !found->second.is_figure()) return one;
  const auto& confirmation = found->second.evaluation;
  if (!confirmation->accepted() || !one->evaluation.accepted()) return one;
  // A confirmation lacks features that are computed from the source.
  auto features = confirmation->metrics()->features();
  features.insert(one->evaluation.metrics()->features().begin(), one->evaluation.metrics()->features().end());
  auto metrics = Metrics::create(confirmation->metrics()->fitness(), std::move(features));
  return std::make_shared<Individual>(
      Individual{one->program, Acceptance{std::move(*metrics), confirmation->report()}});
}

Result<OpenTicket*> SearchState::unanswered(TicketId id) {
  const auto it = open_.find(id);
  if (it == open_.end()) return corrupt(id, "it is not open");
  if (it->second.answered()) return corrupt(id, "it was answered twice");
  return &it->second;
}

Result<IndividualPtr> SearchState::individual(ProgramId id) const {
  const auto it = programs_.find(id);
  if (it == programs_.end()) {
    return fail(ErrorCode::corrupt, "the journal names a program that it does not contain", where(id));
  }
  if (auto held = it->second.individual.lock()) return held;
  auto one = read(id, it->second);
  if (one) it->second.individual = *one;
  return one;
}

Result<IndividualPtr> SearchState::read(ProgramId id, const ProgramRecord& record) const {
  if (!journal_) return fail(ErrorCode::not_found, "the program is in the journal only", where(id));
  const auto proposed = event_at(*journal_, record.proposed_at);
  if (!proposed) return proposed.error();
  const auto* proposal = std::get_if<ProposalArrived>(&*proposed);
  const Child* child = proposal ? proposal->proposal.child() : nullptr;
  const Error changed = fail(ErrorCode::corrupt, "the journal changed while it was in use", where(id));
  if (!child || child->source.digest() != record.source) return changed;
  std::optional<Evaluation> evaluation;
  for (const std::uint64_t position : record.evaluated_at) {
    const auto event = event_at(*journal_, position);
    if (!event) return event.error();
    const auto* told = std::get_if<EvaluationArrived>(&*event);
    if (!told || told->program != id) return changed;
    const Evaluation one = described(child->source, told->evaluation);
    evaluation = evaluation ? pooled(*evaluation, one) : one;
  }
  return individual_of({id, child->source, child->parents, child->origin}, std::move(*evaluation));
}

Status SearchState::complete(Commit& commit) const {
  if (!commit.repeats || commit.individual) return {};
  auto earlier = individual(*commit.repeats);
  if (!earlier) return earlier.error();
  commit.individual = std::move(*earlier);
  commit.fitness = fitness_of(*commit.individual);
  return {};
}

/// Keeps the last result, because a caller that looks up a child's program proposes the child next.
const Digest& SearchState::fingerprint_of(const Source& source) const {
  if (!last_fingerprint_ || last_fingerprint_->first != source)
    last_fingerprint_.emplace(source, options_.fingerprint(source));
  return last_fingerprint_->second;
}

std::optional<ProgramId> SearchState::program_like(const Source& source) const {
  const auto it = by_fingerprint_.find(fingerprint_of(source));
  return it == by_fingerprint_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<ProgramId> SearchState::repeated_program(TicketId ticket) const {
  const auto& fingerprint = open_.at(ticket).fingerprint;
  if (!fingerprint) return std::nullopt;
  const auto it = by_fingerprint_.find(*fingerprint);
  return it == by_fingerprint_.end() ? std::nullopt : std::optional(it->second);
}

std::vector<ProgramId> SearchState::kin_of(const TicketOpened& opened) const {
  if (options_.kin == 0 || !opened.parent || !is_call(opened)) return {};
  std::vector<ProgramId> kin = lineage_.path_to_seed(*opened.parent, options_.kin);
  kin.erase(kin.begin());
  if (const auto found = accepted_children_.find(*opened.parent); found != accepted_children_.end()) {
    const auto latest =
        static_cast<std::ptrdiff_t>(std::min<std::size_t>(options_.kin, found->second.size()));
    kin.insert(kin.end(), found->second.rbegin(), found->second.rbegin() + latest);
  }
  return kin;
}

std::optional<ProgramId> SearchState::program_compiled_to(const Evaluation& evaluation) const {
  const auto& binary = evaluation.report().binary;
  const auto it = binary ? by_binary_.find(*binary) : by_binary_.end();
  if (it == by_binary_.end()) return std::nullopt;
  const bool holds = programs_.at(it->second).accepted || confirmations_.contains(it->second);
  return holds || !evaluation.accepted() ? std::optional(it->second) : std::nullopt;
}

void SearchState::take_new_attempt(TicketId id) {
  auto& ticket = open_.at(id);
  ticket.attempt = ++attempts_[ticket.challenger ? ticket.challenger->program->id : ProgramId{id.value}];
}

std::string SearchState::to_text() const {
  std::string text = text_of(counts_);
  for (const auto& [id, program] : programs_) {
    text += "program " + std::to_string(id.value) + " " + std::string(name_of(program.origin));
    for (const auto parent : lineage_.parents(id)) text += " " + std::to_string(parent.value);
    text += " " + program.source.hex() + "\n";
  }
  return text + arms_.to_text() + archipelago_.to_text() + knobs_.to_text();
}

Result<SearchState> replay(const Journal& journal, EngineOptions options, std::uint64_t until) {
  auto state = SearchState::create(std::move(options));
  if (!state) return state.error();
  state->read_from(&journal);
  auto visited = journal.replay(0, [&](std::uint64_t position, const Event& event) -> Status {
    if (position >= until) return {};
    auto commits = state->apply(event);
    return commits ? Status{} : Status(commits.error());
  });
  if (!visited) return visited.error();
  state->read_from(nullptr);
  return state;
}

}  // namespace kernelsmith

// Applies each ticket, in its turn, to counts, lineage and archive.

#include <algorithm>
#include <cmath>

#include <kernelsmith/engine/search_state.hpp>

#include "programs.hpp"
#include "settings.hpp"

namespace kernelsmith {
namespace {

Comparison compared(const Evaluation& evaluation, const Individual& incumbent) {
  if (!evaluation.accepted()) return Comparison::worse;
  if (!incumbent.evaluation.accepted()) return Comparison::better;
  if (evaluation.report().incumbent_failed) return Comparison::better;
  if (const auto& duel = evaluation.report().duel) return compare(*duel, Measurement::exact(1));
  return compare(evaluation.metrics()->fitness(), incumbent.evaluation.metrics()->fitness());
}

constexpr double kDeviations = 1.96;  // half of a 95 % interval

bool is_close(const Individual& a, const Individual& b) {
  return compare(a.evaluation.metrics()->fitness(), b.evaluation.metrics()->fitness()) ==
         Comparison::ambiguous;
}

/// What a child of that parent counts as a try of its arm.
ArmSums outcome_of(const Individual& child, const IndividualPtr& parent) {
  ArmSums outcome;
  const Metrics* metrics = child.evaluation.metrics();
  if (!metrics) return outcome;
  outcome.accepted = 1;
  const Metrics* before = parent ? parent->evaluation.metrics() : nullptr;
  if (before && compare(metrics->fitness(), before->fitness()) != Comparison::better) return outcome;
  outcome.better = 1;
  if (before && before->fitness().median > 0)
    outcome.gain = std::log(metrics->fitness().median / before->fitness().median);
  return outcome;
}

template <class T>
void add_standing(std::vector<T>& heap, T one) {
  heap.push_back(one);
  std::push_heap(heap.begin(), heap.end());
}

std::optional<ProgramId> id_of(const IndividualPtr& individual) {
  return individual ? std::optional(individual->program->id) : std::nullopt;
}

}  // namespace

Result<SearchState::Commits> SearchState::commit_what_may(std::optional<TicketId> answered) {
  Commits commits;
  if (!options_.deterministic) {
    if (!answered) return commits;
    auto one = commit(*answered);
    if (!one) return one.error();
    commits.push_back(std::move(*one));
    return commits;
  }
  // A commit waits for everything that became due after the previous commit. So sampling does not depend on
  // the order of arrival, nor on the point where a run was killed.
  while (!crossing_due() && opening(0) == Opening::none) {
    const auto next = open_.find(TicketId{committed_});
    if (next == open_.end() || !next->second.answered()) break;
    auto one = commit(next->first);
    if (!one) return one.error();
    commits.push_back(std::move(*one));
  }
  return commits;
}

Result<Commit> SearchState::commit(TicketId id) {
  const OpenTicket ticket = std::move(open_.extract(id).mapped());
  if (options_.deterministic)
    for (const Cost& cost : ticket.costs) count(ticket, cost);
  const auto best_before = id_of(best());
  const double elapsed_before_s = elapsed_s_;
  Commit commit;
  commit.ticket = id;
  commit.island = ticket.opened.island;
  if (const auto* closed = std::get_if<TicketClosed>(&ticket.answer)) {
    elapsed_s_ = std::max(elapsed_s_, closed->elapsed_s);
    commit_closing(ticket, *closed, commit);
  } else {
    const auto& arrived = std::get<EvaluationArrived>(ticket.answer);
    elapsed_s_ = std::max(elapsed_s_, arrived.elapsed_s);
    if (auto ok = commit_evaluation(ticket, arrived, commit); !ok) return ok.error();
  }
  // No other ticket is open, so the previous event is as old as the ticket.
  if (ticket.kind == TicketKind::confirm && !ticket.opened.within)
    confirming_s_ += elapsed_s_ - elapsed_before_s;
  if (is_call(ticket.opened) && !commit.error) ++calls_;
  ++committed_;
  last_committed_ = id;
  const IndividualPtr best_now = best();
  if (best_now)
    history_.observe(best_now->program->id, best_now->evaluation.metrics()->fitness(), counts_.evaluations);
  const auto best_after = id_of(best_now);
  if (commit.individual && commit.individual->evaluation.accepted()) {
    commit.fitness = fitness_of(*commit.individual);
    commit.new_best = best_after != best_before && best_after == commit.individual->program->id;
  }
  record_try(ticket, commit);
  return commit;
}

Status SearchState::commit_evaluation(const OpenTicket& ticket, const EvaluationArrived& arrived,
                                      Commit& commit) {
  if (ticket.kind == TicketKind::duel) return commit_duel(ticket, arrived, commit);
  if (ticket.kind == TicketKind::confirm) return commit_confirmation(ticket, arrived, commit);

  if (ticket.kind == TicketKind::iteration) ++counts_.iterations;
  if (ticket.kind == TicketKind::repair) ++counts_.repairs;
  if (ticket.kind == TicketKind::tuning) ++counts_.tunings;
  if (const auto earlier = earlier_program(ticket, arrived)) {
    commit.kind = CommitKind::repeated;
    commit.repeats = earlier;
    commit.individual = programs_.at(*earlier).individual.lock();
    ++counts_.repeated;
    if (by_fingerprint_.emplace(*ticket.fingerprint, *earlier).second) {
      ++counts_.same_binary;
      note_knobs(ticket.knobs, programs_.at(*earlier));
    }
    ++idle_;
    // Two equal children were in flight. In free mode the evaluation of the second is lost. In a
    // deterministic run, timing decides whether the second is evaluated, and timing must not affect a budget.
    if (arrived.source == EvaluationSource::evaluated && !options_.deterministic) ++counts_.evaluations;
    return {};
  }
  if (arrived.source != EvaluationSource::evaluated) {
    return fail(ErrorCode::corrupt,
                "the journal answers a child with the evaluation of a program that it does not contain",
                "ticket " + std::to_string(arrived.ticket.value));
  }
  ++counts_.evaluations;
  idle_ = 0;
  nothing_left_ = false;
  return commit_program(ticket, arrived, commit);
}

/// If the child is a repeat: the program whose verdict this answer is.
std::optional<ProgramId> SearchState::earlier_program(const OpenTicket& ticket,
                                                      const EvaluationArrived& arrived) const {
  const auto same_tokens = by_fingerprint_.find(*ticket.fingerprint);
  if (same_tokens != by_fingerprint_.end()) return same_tokens->second;
  if (arrived.source == EvaluationSource::evaluated) return program_compiled_to(arrived.evaluation);
  const bool is_there =
      arrived.source == EvaluationSource::same_binary && programs_.contains(arrived.program);
  return is_there ? std::optional(arrived.program) : std::nullopt;
}

/// Brings the record of a program up to date.
void SearchState::keep(ProgramRecord& record, const IndividualPtr& individual) {
  record.individual = individual;
  const Metrics* metrics = individual->evaluation.metrics();
  if (!metrics) return;
  record.cell = archipelago_.grid().cell_of(*metrics);
  record.low = metrics->fitness().low;
  record.fitness = metrics->fitness().median;
  record.deviation = (metrics->fitness().high - metrics->fitness().low) / 2 / kDeviations;
  add_standing(standings_[record.cell], {record.low, individual->program->id});
}

Status SearchState::commit_program(const OpenTicket& ticket, const EvaluationArrived& arrived,
                                   Commit& commit) {
  const ProgramId id{ticket.opened.ticket.value};
  const Child& child = *ticket.child();
  if (auto ok = lineage_.add(id, child.parents); !ok) {
    return fail(ErrorCode::corrupt, ok.error().message, "program " + std::to_string(id.value));
  }
  const auto individual = individual_of({id, child.source, child.parents, child.origin},
                                        described(child.source, arrived.evaluation));
  const bool accepted = individual->evaluation.accepted();
  ProgramRecord& record = programs_[id];
  record.source = child.source.digest();
  record.origin = child.origin;
  record.accepted = accepted;
  record.proposed_at = ticket.proposed_at;
  record.evaluated_at = {ticket.answered_at};
  keep(record, individual);
  note_latest(individual);
  by_fingerprint_.emplace(*ticket.fingerprint, id);
  if (const auto& binary = individual->evaluation.report().binary) by_binary_.insert_or_assign(*binary, id);
  note_knobs(ticket.knobs, record);
  if (ticket.knobs && child.origin == Origin::tune) knobs_.begin_tuning(ticket.knobs->structure);
  commit.kind = CommitKind::evaluated;
  commit.individual = individual;
  ++(accepted ? counts_.accepted : counts_.rejected);
  if (accepted) {
    extra_looks_ = 0;
    for (const ProgramId parent : child.parents) insert_sorted(accepted_children_[parent], id);
  }
  if (const Rejection* why = individual->evaluation.rejection()) ++failures_[{why->stage, why->code}];

  const auto join = [&](IslandId island) {
    const auto outcome = archipelago_.add(island, individual);
    if (outcome && outcome->incumbent && is_close(*individual, *outcome->incumbent))
      queue_duel(island, individual, outcome->incumbent);
    return outcome ? std::optional(outcome->status) : std::nullopt;
  };
  commit.added = join(ticket.opened.island);
  if (ticket.kind == TicketKind::seed) {
    seed_passed_ = seed_passed_ || accepted;
    for (std::uint32_t i = 0; i < archipelago_.size(); ++i) {
      if (IslandId{i} != ticket.opened.island) join({i});
    }
  } else if (!accepted && ticket.kind != TicketKind::trial) {
    queue_repair(ticket.opened.island, individual, ticket);
  } else if (accepted) {
    queue_tunings(ticket.opened.island, individual, ticket);
  }
  if (ticket.opened.within)
    if (const auto outer = open_.find(*ticket.opened.within); outer != open_.end())
      outer->second.tried.push_back(individual);
  return {};
}

Status SearchState::commit_duel(const OpenTicket& ticket, const EvaluationArrived& arrived, Commit& commit) {
  ++counts_.evaluations;
  ++counts_.remeasured;
  commit.kind = CommitKind::remeasured;
  commit.individual = ticket.challenger;
  commit.added = AddStatus::ambiguous;
  const auto stands = [&](const IndividualPtr& one) { return programs_.at(one->program->id).accepted; };
  if (!stands(ticket.challenger)) return {};
  const Comparison verdict = compared(arrived.evaluation, *ticket.incumbent);
  if (arrived.evaluation.accepted()) {
    auto measured = add_evidence(ticket, arrived.evaluation);
    if (!measured) return measured.error();
    commit.individual = std::move(*measured);
  }
  const IndividualPtr& challenger = commit.individual;
  if (verdict == Comparison::ambiguous) {
    queue_duel(ticket.opened.island, challenger, ticket.incumbent);
    return {};
  }
  if (!stands(ticket.incumbent)) return {};
  auto incumbent = individual(ticket.incumbent->program->id);
  if (!incumbent) return incumbent.error();
  const bool wins = verdict == Comparison::better;
  const IndividualPtr &winner = wins ? challenger : *incumbent, &loser = wins ? *incumbent : challenger;
  const auto outcome = archipelago_.settle(ticket.opened.island, winner, loser->program->id);
  commit.added = wins ? outcome.status : AddStatus::not_better;
  const bool stands_there = outcome.incumbent && outcome.incumbent->program->id == challenger->program->id;
  if (wins && stands_there) commit.added = AddStatus::improved;  // it stays there with its new measurement
  return {};
}

/// A program's new measurement is pooled with earlier ones, no matter who asked for it.
Result<IndividualPtr> SearchState::add_evidence(const OpenTicket& ticket, const Evaluation& evaluation) {
  const ProgramPtr& program = ticket.challenger->program;
  auto before = individual(program->id);
  if (!before) return before.error();
  auto measured =
      individual_of(program, pooled((*before)->evaluation, described(program->source, evaluation)));
  ProgramRecord& record = programs_.at(program->id);
  record.evaluated_at.push_back(ticket.answered_at);
  keep(record, measured);
  note_latest(measured);
  note_knobs(knobs_of(program->source), record);
  if (leader_ && leader_->individual->program->id == program->id) leader_->individual = measured;
  if (auto replaced = replace(measured); !replaced) return replaced.error();
  return measured;
}

Status SearchState::commit_confirmation(const OpenTicket& ticket, const EvaluationArrived& arrived,
                                        Commit& commit) {
  ++counts_.evaluations;
  ++counts_.remeasured;
  commit.kind = CommitKind::remeasured;
  commit.individual = ticket.challenger;
  const Evaluation evaluation = arrived.evaluation.without_artifacts();
  Confirmation& known = confirmations_[ticket.challenger->program->id];
  if (!ticket.opened.within || !known.is_figure() || !evaluation.accepted())
    known = Confirmation{evaluation, ticket.opened.within.has_value()};
  known.latest = evaluation;
  if (arrived.evaluation.accepted()) {
    auto measured = add_evidence(ticket, evaluation);
    if (!measured) return measured.error();
    commit.individual = std::move(*measured);
    if (!ticket.opened.within) note_last_look(ticket, evaluation, commit.individual);
    return {};
  }
  if (!ticket.opened.within) {
    looked_at_.insert(ticket.challenger->program->id);
    ++extra_looks_;
  }
  commit.individual = individual_of(ticket.challenger->program, evaluation);
  commit.demoted = true;
  return demote(commit.individual, ticket.answered_at);
}

/// Only these measurements decide the best of the run. The samples that chose it are not used for its
/// reported speed.
void SearchState::note_last_look(const OpenTicket& ticket, const Evaluation& evaluation,
                                 const IndividualPtr& measured) {
  const ProgramId program = measured->program->id;
  looked_at_.insert(program);
  const Measurement fitness = evaluation.metrics()->fitness();
  bool wins = !leader_ || !leader_->fitness || leader_->individual->program->id == program ||
              compare(fitness, *leader_->fitness) != Comparison::worse;
  if (ticket.incumbent && leader_) {
    ++extra_looks_;
    const ProgramId led = leader_->individual->program->id;
    for (const ProgramId one : {program, led}) confirmations_.at(one).chose = true;
    const Report& report = evaluation.report();
    wins = report.duel ? report.duel->median > 1 : fitness.low > leader_->fitness->low;
    if (report.incumbent_failed) {
      wins = true;
      looked_at_.erase(led);  // the leader must be confirmed again
    }
  }
  if (wins) leader_ = Leader{measured, fitness, ticket.opened.ticket};
}

/// A program that fails a repeated measurement counts as rejected.
Status SearchState::demote(const IndividualPtr& rejected, std::uint64_t answered_at) {
  const ProgramId id = rejected->program->id;
  ProgramRecord& record = programs_.at(id);
  record.accepted = false;
  record.evaluated_at = {answered_at};
  record.individual = rejected;
  note_latest(rejected);
  note_knobs(knobs_of(rejected->program->source), record);
  demoted_.push_back(rejected);
  for (const ProgramId parent : lineage_.parents(id)) std::erase(accepted_children_[parent], id);
  const Rejection& why = *rejected->evaluation.rejection();
  ++failures_[{why.stage, why.code}];
  --counts_.accepted;
  ++counts_.rejected;
  ++counts_.demoted;
  std::erase_if(follow_ups_, [&](const FollowUp& one) { return one.program == id || one.incumbent == id; });
  if (leader_ && leader_->individual->program->id == id) leader_.reset();
  return replace(rejected);
}

/// In each cell that a program leaves, the best remaining program of that cell replaces it.
Status SearchState::replace(const IndividualPtr& measured) {
  return archipelago_.replace(measured, [&](Cell cell) -> Result<std::vector<IndividualPtr>> {
    std::vector<IndividualPtr> heirs;
    for (const ProgramId next : heirs_of(cell, measured->program->id)) {
      auto heir = individual(next);
      if (!heir) return heir.error();
      heirs.push_back(std::move(*heir));
    }
    return heirs;
  });
}

/// The accepted program of the cell with the highest low end; of equals, the older. With several objectives,
/// all programs of the cell by age, so that the cell keeps the programs that it would have kept without the
/// one that leaves.
std::vector<ProgramId> SearchState::heirs_of(Cell cell, ProgramId leaving) {
  auto& standings = standings_[cell];
  const auto counts = [&](const Standing& one) {
    const ProgramRecord& record = programs_.at(one.program);
    return record.accepted && record.cell == cell && record.low == one.low;
  };
  std::vector<ProgramId> heirs;
  if (options_.objectives.several()) {
    for (const Standing& one : standings)
      if (counts(one) && one.program != leaving) heirs.push_back(one.program);
    std::ranges::sort(heirs);
    heirs.erase(std::unique(heirs.begin(), heirs.end()), heirs.end());
    return heirs;
  }
  std::optional<Standing> aside;
  while (!standings.empty() && heirs.empty()) {
    const Standing first = standings.front();
    if (counts(first) && first.program != leaving) {
      heirs.push_back(first.program);
    } else {
      if (counts(first)) aside = first;
      std::pop_heap(standings.begin(), standings.end());
      standings.pop_back();
    }
  }
  if (aside) add_standing(standings, *aside);
  return heirs;
}

/// An Error does not count as a try of the arm. A program that was tried in a trial counts once, if it is the
/// answer.
void SearchState::record_try(const OpenTicket& ticket, const Commit& commit) {
  if (!ticket.opened.op || commit.kind == CommitKind::given_back) return;
  ArmSums one;
  const auto tried = std::ranges::find_if(ticket.tried, [&](const IndividualPtr& individual) {
    return commit.repeats == individual->program->id;
  });
  if (commit.kind == CommitKind::evaluated)
    one = outcome_of(*commit.individual, ticket.selection.parent);
  else if (tried != ticket.tried.end())
    one = outcome_of(**tried, ticket.selection.parent);
  one.tries = 1;
  Spending spent;
  for (const Cost& cost : ticket.costs) spent.add(cost);
  const CallTotals total = spent.total();
  one.usd = total.usd + total.guessed_usd;
  one.tokens = static_cast<double>(total.input_tokens + total.output_tokens);
  arms_.add({*ticket.opened.op, ticket.opened.model}, one);
}

void SearchState::commit_closing(const OpenTicket& ticket, const TicketClosed& closed, Commit& commit) {
  if (closed.error) {
    ++counts_.given_back;
    if (ticket.kind == TicketKind::seed) seed_passed_ = true;
    if (ticket.kind == TicketKind::confirm && !ticket.opened.within) {
      looked_at_.insert(ticket.challenger->program->id);
      ++extra_looks_;
      confirmations_.insert_or_assign(ticket.challenger->program->id, Confirmation{});
      if (!leader_) leader_ = Leader{ticket.challenger, std::nullopt, ticket.opened.ticket};
    }
    if (options_.ends_when_exhausted) idle_ = 0;
    nothing_left_ = false;  // the lost child can be proposed again
    commit.kind = CommitKind::given_back;
    commit.error = closed.error;
    return;
  }
  if (ticket.kind == TicketKind::iteration) ++counts_.iterations;
  if (ticket.kind == TicketKind::repair) ++counts_.repairs;
  if (ticket.kind == TicketKind::tuning) ++counts_.tunings;
  ++counts_.refused;
  commit.kind = CommitKind::refused;
  commit.refusal = *ticket.proposal->refusal();
  ++idle_;
  nothing_left_ = nothing_left_ || commit.refusal->code == RefusalCode::exhausted;
  finished_ = finished_ || commit.refusal->code == RefusalCode::finished;
  ++refusals_[commit.refusal->code];
}

Evaluation SearchState::described(const Source& source, const Evaluation& evaluation) const {
  Evaluation kept = evaluation.without_artifacts();
  if (!options_.describe || !kept.accepted()) return kept;
  auto features = kept.metrics()->features();
  for (const auto& [name, value] : options_.describe(source, kept)) {
    if (std::isfinite(value)) features.insert_or_assign(name, value);
  }
  auto metrics = Metrics::create(kept.metrics()->fitness(), std::move(features)).value();
  return Acceptance{std::move(metrics), kept.report()};
}

void SearchState::queue_duel(IslandId island, const IndividualPtr& challenger,
                             const IndividualPtr& incumbent) {
  const ProgramId one = challenger->program->id, other = incumbent->program->id;
  auto& fought = duels_[{one, other}];
  if (fought >= options_.duels) return;
  ++fought;
  follow_ups_.push_back({island, one, other, false, {challenger, incumbent}});
}

void SearchState::queue_repair(IslandId island, const IndividualPtr& rejected, const OpenTicket& ticket) {
  const unsigned tried = ticket.kind == TicketKind::repair ? repairs_.at(*ticket.opened.parent) + 1 : 0;
  if (tried >= options_.repairs) return;
  const ProgramId id = rejected->program->id;
  repairs_[id] = tried;
  follow_ups_.push_back({island, id, std::nullopt, false, {rejected, nullptr}});
}

}  // namespace kernelsmith

// The next ticket to open, and the next event that the journal lacks. Everything is a pure function of the
// state, except for the wall time, which replay does not use.

#include <algorithm>
#include <cmath>

#include <kernelsmith/engine/search_state.hpp>

#include "settings.hpp"

namespace kernelsmith {
namespace {

/// At most this many rivals, whose intervals overlap the best's, are measured. Each costs a careful
/// evaluation, and later ones rarely win ...
constexpr std::uint64_t kMostRivals = 3;
/// ... and a run has one rival for this many evaluations, so that rivals take a small share of them.
constexpr std::uint64_t kEvaluationsForARival = 20;

const Measurement& fitness(const IndividualPtr& accepted) {
  return accepted->evaluation.metrics()->fitness();
}

template <class T>
double share(double used, const std::optional<T>& limit) {
  return limit ? used / static_cast<double>(*limit) : 0;
}

std::vector<ProgramId> ids_of(const std::vector<IndividualPtr>& individuals) {
  std::vector<ProgramId> ids;
  ids.reserve(individuals.size());
  for (const auto& individual : individuals) ids.push_back(individual->program->id);
  return ids;
}

void name(const Selection& selection, TicketOpened& opened) {
  if (selection.parent) opened.parent = selection.parent->program->id;
  opened.top = ids_of(selection.top);
  opened.inspirations = ids_of(selection.inspirations);
  opened.failures = ids_of(selection.failures);
}

}  // namespace

double SearchState::progress() const {
  const double used = std::max({share(static_cast<double>(counts_.iterations), budgets_.iterations),
                                share(static_cast<double>(counts_.evaluations), budgets_.evaluations),
                                share(static_cast<double>(calls_), budgets_.calls),
                                share(elapsed_s_, budgets_.wall_s), share(spending_.usd(), budgets_.usd)});
  return std::min(used, 1.0);
}

std::optional<Event> SearchState::due(double elapsed_s) const {
  if (next_ticket_ < options_.seeds.size()) {
    TicketOpened opened;
    opened.ticket = {next_ticket_};
    return opened;
  }
  for (const auto& [id, ticket] : open_) {
    if (ticket.kind != TicketKind::seed) break;
    if (!ticket.proposal) {
      return ProposalArrived{id, {Child{options_.seeds[id.value], Origin::seed, {}}, {}, {}}};
    }
  }
  if (!foregone_.empty()) return foregone_answer(elapsed_s);
  if (crossing_due()) return PeriodCrossed{"migration", migrations_ + 1, last_committed_};
  if (marks_passed() > money_marks_) return PeriodCrossed{"money", money_marks_ + 1, last_committed_};
  if (options_.deterministic) return next_opening(elapsed_s);
  return std::nullopt;
}

Event SearchState::foregone_answer(double elapsed_s) const {
  const TicketId id = *foregone_.begin();
  const auto earlier = repeated_program(id);
  if (!earlier) return TicketClosed{id, {}, elapsed_s};
  return EvaluationArrived{id, *earlier, 0, EvaluationSource::cached, Rejection{}, elapsed_s};
}

bool SearchState::crossing_due() const {
  if (options_.topology.edges().empty()) return false;
  // The margin is needed because 0.3 / 0.1 may be a little less than 3.
  const double periods = std::floor(progress() / options_.migration_period + 1e-9);
  return periods > static_cast<double>(migrations_);
}

std::optional<TicketOpened> SearchState::next_opening(double elapsed_s) const {
  switch (opening(elapsed_s)) {
    case Opening::follow_up:
      return open_follow_up(*next_follow_up());
    case Opening::iteration:
      return open_iteration();
    case Opening::confirmation:
      return open_confirmation(*next_look());
    case Opening::none:
      break;
  }
  return std::nullopt;
}

SearchState::Opening SearchState::opening(double elapsed_s) const {
  if (seeding()) return Opening::none;
  if (options_.deterministic && next_ticket_ - committed_ >= options_.pipeline) return Opening::none;
  if (!finished_ && !time_is_up(elapsed_s) && !seeds_failed() && room_for_evaluation() && !flat()) {
    if (next_follow_up()) return Opening::follow_up;
    if (room_for_iteration() && !exhausted() && room_for_translation() &&
        (!limits_calls() || room_for_call(open_iteration())))
      return Opening::iteration;
  }
  return open_.empty() && next_look() ? Opening::confirmation : Opening::none;
}

EndReason SearchState::end_reason(double elapsed_s) const {
  if (seeding() || !open_.empty() || opening(elapsed_s) != Opening::none) return EndReason::unfinished;
  if (seeds_failed()) return EndReason::refused;
  if (finished_) return EndReason::finished;
  if (exhausted() && room_for_iteration() && room_for_evaluation() && !time_is_up(elapsed_s)) {
    return EndReason::exhausted;
  }
  if (flat() && room_for_iteration() && room_for_evaluation() && !time_is_up(elapsed_s)) {
    return EndReason::flat;
  }
  return EndReason::budget;
}

BudgetName SearchState::used_up(double elapsed_s) const {
  if (!room_for_iteration()) return BudgetName::iterations;
  if (!room_for_evaluation()) return BudgetName::evaluations;
  if (!room_among_calls()) return BudgetName::calls;
  return time_is_up(elapsed_s) ? BudgetName::wall_time : BudgetName::money;
}

/// The next duel, repair or tuning. The others continue if a repair would cost too much.
const SearchState::FollowUp* SearchState::next_follow_up() const {
  const auto next = std::ranges::find_if(follow_ups_, [&](const FollowUp& follow_up) {
    return follow_up.incumbent || !limits_calls() || room_for_call(open_follow_up(follow_up));
  });
  return next == follow_ups_.end() ? nullptr : &*next;
}

bool SearchState::seeding() const {
  if (next_ticket_ < options_.seeds.size()) return true;
  return !open_.empty() && open_.begin()->second.kind == TicketKind::seed;
}

bool SearchState::seeds_failed() const {
  return options_.seeds_must_pass && !options_.seeds.empty() && !seeding() && !seed_passed_;
}

bool SearchState::exhausted() const {
  return idle_ >= options_.idle_iterations || (options_.ends_when_exhausted && nothing_left_);
}

/// Whether the run is flat. A confirmation is made even then, because it is not made for a gain.
bool SearchState::flat() const {
  if (!budgets_.until_flat) return false;
  const auto expected = expected_gain();
  return expected && expected->percent < *budgets_.until_flat;
}

std::optional<ExpectedGain> SearchState::expected_gain() const {
  if (!history_.known()) return std::nullopt;
  const auto left_of = [](std::uint64_t limit, std::uint64_t used) {
    return limit > used ? limit - used : 0;
  };
  std::uint64_t left = counts_.evaluations;
  if (budgets_.evaluations) left = left_of(*budgets_.evaluations, counts_.evaluations);
  if (budgets_.iterations) {
    const std::uint64_t iterations = left_of(*budgets_.iterations, counts_.iterations);
    left = budgets_.evaluations ? std::min(left, iterations) : iterations;
  }
  return kernelsmith::expected_gain(history_.improvements(), counts_.evaluations, left);
}

bool SearchState::time_is_up(double elapsed_s) const {
  return budgets_.wall_s && elapsed_s - confirming_s_ >= *budgets_.wall_s;
}

bool SearchState::room_for_evaluation() const {
  if (!budgets_.evaluations) return true;
  return counts_.evaluations + open_.size() + looks_to_come() < *budgets_.evaluations;
}

std::optional<std::uint64_t> SearchState::evaluations_left() const {
  if (!budgets_.evaluations) return std::nullopt;
  const auto asked = std::ranges::count_if(
      open_, [](const auto& entry) { return is_call(entry.second.opened) && !entry.second.proposal; });
  const std::uint64_t taken =
      counts_.evaluations + open_.size() - static_cast<std::uint64_t>(asked) + looks_to_come();
  return *budgets_.evaluations - std::min(*budgets_.evaluations, taken);
}

/// The number of evaluations that the end of the run would need now: for the best, its rivals, and the winner
/// again.
std::uint64_t SearchState::looks_to_come() const {
  if (!options_.confirm) return 0;
  const IndividualPtr best = archipelago_.best();
  if (!best) return 1;
  const bool was_looked_at = leader_ && leader_->fitness;
  const auto rivals = rivals_of(was_looked_at ? *leader_->fitness : fitness(best)).size();
  const std::uint64_t beside = std::min<std::uint64_t>(rivals, room_for_rivals());
  return beside + (beside > 0 && !was_looked_at ? 2 : 1);
}

bool SearchState::room_for_iteration() const {
  if (!budgets_.iterations) return true;
  const auto reserved = std::ranges::count_if(
      open_, [](const auto& entry) { return entry.second.kind == TicketKind::iteration; });
  return counts_.iterations + static_cast<std::uint64_t>(reserved) < *budgets_.iterations;
}

bool SearchState::room_for_trial(double elapsed_s) const {
  return !time_is_up(elapsed_s) && room_for_evaluation();
}

/// An island without a seed begins with as many translations as its sampler waits for.
bool SearchState::begins(const Island& island) const {
  return island.leaders().empty() || (island.roots().empty() && options_.sampler->opens(island));
}

/// As many translations are under way as islands wait for, plus one for each failed child (a repeat also
/// counts). So a hard task gets more at a time, and an easy task does not pay for unneeded ones.
bool SearchState::wants_translation() const {
  std::uint64_t wanted = counts_.rejected + counts_.refused + counts_.repeated;
  for (std::uint32_t i = 0; i < archipelago_.size(); ++i) {
    const Island& island = archipelago_.island({i});
    const std::uint64_t opening = options_.sampler->opening(), joined = island.joined();
    if (begins(island)) wanted += opening > joined ? opening - joined : 1;
  }
  const auto under_way = std::ranges::count_if(
      open_, [](const auto& entry) { return entry.second.opened.op == Operator::translate; });
  return static_cast<std::uint64_t>(under_way) < wanted;
}

/// Returns false if the next ticket would be a translation and none is wanted. On an island without a program
/// every ticket is a translation.
bool SearchState::room_for_translation() const {
  const IslandId next{static_cast<std::uint32_t>(next_ticket_ % archipelago_.size())};
  return !archipelago_.island(next).leaders().empty() || wants_translation();
}

/// Programs that may be as good as `best` and were not measured at the end of the run yet, the most promising
/// first. Empty with several objectives, because then fitness alone does not decide the best.
std::vector<IndividualPtr> SearchState::rivals_of(const Measurement& best) const {
  if (options_.objectives.several()) return {};
  std::map<ProgramId, IndividualPtr> found;  // a map, because a migrant may lead on several islands
  const IndividualPtr first = leader_ ? nullptr : archipelago_.best();
  for (std::uint32_t i = 0; i < archipelago_.size(); ++i)
    for (const IndividualPtr& one : archipelago_.island({i}).leaders())
      if (one != first && !looked_at_.contains(one->program->id) && fitness(one).high > best.low)
        found.emplace(one->program->id, one);
  std::vector<IndividualPtr> rivals;
  for (const auto& [id, rival] : found) rivals.push_back(rival);
  std::ranges::stable_sort(rivals, std::ranges::greater(),
                           [](const IndividualPtr& one) { return fitness(one).low; });
  return rivals;
}

/// The number of rivals that may still be measured before the winner is measured again.
std::uint64_t SearchState::room_for_rivals() const {
  const std::uint64_t room = kMostRivals - std::min(kMostRivals, extra_looks_);
  const auto& budget = budgets_.evaluations;
  if (!budget) return room;
  const std::uint64_t left = *budget - std::min(*budget, counts_.evaluations + 1);
  return std::min({room, *budget / kEvaluationsForARival, left});
}

/// Measures the best alone, then its rivals together with the leader, then the winner again if there were
/// rivals. The budget reserves these evaluations. If the best fails, the next best is measured anyway, a few
/// times, because a confirmed best is worth a few evaluations. A measurement for a proposer does not count,
/// because a proposer could ask until it is lucky.
std::optional<SearchState::LastLook> SearchState::next_look() const {
  const IndividualPtr best = options_.confirm ? archipelago_.best() : nullptr;
  if (!best) return std::nullopt;
  const bool has_room = !budgets_.evaluations || counts_.evaluations < *budgets_.evaluations;
  if (looked_at_.empty() && !has_room) return std::nullopt;
  const bool may_go_on = extra_looks_ < 2 * kMostRivals;  // for rivals, and for the next best if the best
                                                          // failed
  const LastLook alone{best->program->id, {}};
  if (!leader_) return may_go_on ? std::optional(alone) : std::nullopt;
  if (leader_->fitness && room_for_rivals() > 0) {
    const auto rivals = rivals_of(*leader_->fitness);
    if (!rivals.empty()) return LastLook{rivals.front()->program->id, leader_->individual->program->id};
  }
  const ProgramId leader = this->best()->program->id;
  if (!looked_at_.contains(leader)) return LastLook{leader, {}};
  const auto known = confirmations_.find(leader);
  const bool is_done = known != confirmations_.end() && known->second.is_figure();
  const bool was_lost = known != confirmations_.end() && !known->second.evaluation;
  return is_done || (was_lost && !may_go_on) ? std::nullopt : std::optional(LastLook{leader, {}});
}

TicketOpened SearchState::open_iteration() const {
  TicketOpened opened;
  opened.ticket = {next_ticket_};
  opened.island = {static_cast<std::uint32_t>(next_ticket_ % archipelago_.size())};
  const Island& island = archipelago_.island(opened.island);
  Rng sampling(options_.seed, next_ticket_, Purpose::sampling);
  Selection selection = options_.sampler->sample(island, sampling);
  if (has_accepted_parent(selection) && begins(island) && wants_translation())
    selection = {nullptr, {}, {}, std::move(selection.failures)};
  name(selection, opened);
  Rng choosing(options_.seed, next_ticket_, Purpose::operators);
  auto choice = options_.operators->choose({.selection = selection, .arms = arms_, .pays = pays()}, choosing);
  opened.op = choice.op;
  opened.model = std::move(choice.model);
  return opened;
}

TicketOpened SearchState::open_follow_up(const FollowUp& follow_up) const {
  TicketOpened opened;
  opened.ticket = {next_ticket_};
  opened.island = follow_up.island;
  if (follow_up.incumbent) {
    opened.remeasurement = Remeasurement::duel;
    opened.incumbent = follow_up.incumbent;
  } else if (follow_up.is_tuning) {
    opened.op = Operator::tune;
  } else {
    Rng sampling(options_.seed, next_ticket_, Purpose::sampling);
    name(options_.sampler->sample(archipelago_.island(follow_up.island), sampling), opened);
    std::erase(opened.failures, follow_up.program);
    Rng choosing(options_.seed, next_ticket_, Purpose::operators);
    opened.op = Operator::repair;
    const Selection rejected{follow_up.held.front(), {}, {}, {}};
    opened.model =
        options_.operators
            ->choose({.selection = rejected, .arms = arms_, .op = opened.op, .pays = pays()}, choosing)
            .model;
  }
  opened.parent = follow_up.program;
  return opened;
}

TicketOpened SearchState::open_confirmation(const LastLook& look) const {
  TicketOpened opened;
  opened.ticket = {next_ticket_};
  opened.remeasurement = Remeasurement::confirm;
  opened.parent = look.program;
  opened.incumbent = look.beside;
  return opened;
}

}  // namespace kernelsmith

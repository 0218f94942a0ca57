// The number and cost of calls to models, and whether another call may start. All of it is computed from the
// journal's events.

#include <algorithm>
#include <array>
#include <cmath>

#include <kernelsmith/engine/search_state.hpp>

#include "settings.hpp"

namespace kernelsmith {
namespace {

constexpr double kRounding = 1e-9;  // ten times 0.1 is a little less than 1
constexpr std::array kMarks{0.5, 0.8,
                            // Shares of the budget at which the user is warned; the last is never reached.
                            1 + 1e-6};
// Factor over the cost of other kinds of calls: a rewrite is longer than an edit.
constexpr double kUnknownKind = 4;

}  // namespace

/// The tuner's children are free.
bool is_call(const TicketOpened& ticket) { return ticket.op && *ticket.op != Operator::tune; }

Spending SearchState::spending() const {
  Spending all = spending_;
  if (!options_.deterministic) return all;
  for (const auto& [id, ticket] : open_)
    for (const Cost& cost : ticket.costs) all.add(cost);
  return all;
}

/// In deterministic mode a cost counts when its ticket takes effect, because costs arrive in random order.
void SearchState::charge(OpenTicket& ticket, const Cost& cost) {
  ticket.costs.push_back(cost);
  if (!options_.deterministic) count(ticket, cost);
}

void SearchState::count(const OpenTicket& ticket, const Cost& cost) {
  spending_.add(cost);
  if (!is_call(ticket.opened)) return;
  Spending all;
  for (const Cost& one : ticket.costs) all.add(one);
  KnownCalls& known = known_calls_[{ticket.opened.model, *ticket.opened.op}];
  known.dearest_usd = std::max(known.dearest_usd, all.usd());
  known.answered = known.answered || ticket.proposal;
}

std::uint64_t SearchState::marks_passed() const {
  if (!budgets_.usd) return 0;
  const double share = spending_.usd() / *budgets_.usd + kRounding;
  return static_cast<std::uint64_t>(
      std::ranges::count_if(kMarks, [&](double mark) { return share >= mark; }));
}

bool SearchState::knows(const std::string& model) const {
  return std::ranges::any_of(
      known_calls_, [&](const auto& entry) { return entry.first.first == model && entry.second.answered; });
}

bool SearchState::knows(const TicketOpened& call) const {
  const auto known = known_calls_.find({call.model, *call.op});
  return known != known_calls_.end() && known->second.answered;
}

/// A call is expected to cost as much as the most expensive call of its kind or, if there was none, as the
/// most expensive call of all.
double SearchState::expected_usd(const TicketOpened& call) const {
  const auto own = known_calls_.find({call.model, *call.op});
  if (own != known_calls_.end()) return own->second.dearest_usd;
  double dearest = 0;
  for (const auto& [kind, known] : known_calls_) dearest = std::max(dearest, known.dearest_usd);
  return dearest;
}

/// The forecast for a kind of call that has not been answered yet; 0 if one was answered or there is no
/// forecast.
double SearchState::forecast_usd(const TicketOpened& call) const {
  if (!budgets_.usd || !options_.forecast_usd || knows(call)) return 0;
  const auto find = [&](ProgramId id) {
    auto one = individual(id);
    return one ? std::move(*one) : nullptr;
  };
  const auto find_all = [&](const std::vector<ProgramId>& ids) {
    std::vector<IndividualPtr> found;
    for (const ProgramId id : ids)
      if (auto one = find(id)) found.push_back(std::move(one));
    return found;
  };
  Selection selection{call.parent ? find(*call.parent) : nullptr, find_all(call.top),
                      find_all(call.inspirations), find_all(call.failures), find_all(kin_of(call))};
  const auto most =
      options_.forecast_usd({options_.seed, call.ticket, *call.op, call.model, std::move(selection), {}});
  return most && std::isfinite(*most) ? std::max(*most, 0.0) : 0;
}

double SearchState::next_call_usd() const {
  const TicketOpened next = open_iteration();
  return is_call(next) ? std::max(expected_usd(next), forecast_usd(next)) : 0;
}

bool SearchState::room_among_calls() const {
  if (!budgets_.calls) return true;
  const auto under_way =
      std::ranges::count_if(open_, [](const auto& entry) { return is_call(entry.second.opened); });
  return calls_ + static_cast<std::uint64_t>(under_way) < *budgets_.calls;
}

bool SearchState::room_for_call(const TicketOpened& next) const {
  if (!is_call(next)) return true;
  if (!room_among_calls()) return false;
  if (!budgets_.usd) return true;
  const double spent = spending_.usd();
  double taken = spent;
  bool alone = true;
  const auto take = [&](const TicketOpened& call, double most, double unknown) {
    const double expected = expected_usd(call);
    taken += knows(call) ? expected : std::max(expected * unknown, most);
  };
  for (const auto& [id, ticket] : open_) {
    const bool under_way = !ticket.proposal || options_.deterministic;
    if (!is_call(ticket.opened) || !under_way) continue;
    if (ticket.opened.model == next.model && !knows(next.model)) return false;
    take(ticket.opened, ticket.forecast_usd, kUnknownKind);
    alone = false;
  }
  take(next, forecast_usd(next), alone ? 1 : kUnknownKind);
  return spent < *budgets_.usd && taken <= *budgets_.usd * (1 + kRounding);
}

bool SearchState::room_for_attempt() const {
  if (!budgets_.usd) return true;
  const double spent = spending().usd();
  double taken = spent;
  for (const auto& [id, ticket] : open_)
    if (is_call(ticket.opened) && !ticket.proposal && !ticket.answered())
      taken += std::max(expected_usd(ticket.opened), knows(ticket.opened) ? 0 : ticket.forecast_usd);
  return spent < *budgets_.usd && taken <= *budgets_.usd * (1 + kRounding);
}

}  // namespace kernelsmith
